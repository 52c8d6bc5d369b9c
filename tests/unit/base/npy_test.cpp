#include "node/base/npy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <vector>

namespace ostraka::base::npy_test {
namespace {

// A file of the given version with `dict` padded to 64 bytes, and `data_bytes` of data.
std::string File(const std::string& dict, std::size_t data_bytes, int major = 1) {
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  std::string padded = dict;
  while ((8 + length_bytes + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string file = "\x93NUMPY";
  file += static_cast<char>(major);
  file += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i) {
    file += static_cast<char>(padded.size() >> (8 * i) & 0xff);
  }
  return file + padded + std::string(data_bytes, '\0');
}

std::string Dict(const std::string& descr, const std::string& shape) {
  return "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }";
}

void ExpectRefused(const std::string& file, const std::string& fragment) {
  const auto header = ParseNpy(AsBytes(file));
  ASSERT_FALSE(header.ok()) << fragment;
  EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument);
  const std::string message = MessageOf(header.status());
  EXPECT_NE(message.find(fragment), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos);
}

TEST(Npy, ReadsAllVersionsAndBothTypes) {
  for (const int major : {1, 2, 3}) {
    const auto header = ParseNpy(AsBytes(File(Dict("<f8", "(2, 3)"), 48, major)));
    ASSERT_TRUE(header.ok()) << header.status();
    EXPECT_EQ(header->type, NpyType::kFloat64);
    EXPECT_FALSE(header->fortran_order);
    EXPECT_EQ(header->shape, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(header->element_count, 6u);
    EXPECT_EQ(header->data_offset, 128u);
  }
  const auto single = ParseNpy(AsBytes(File(Dict("<f4", "(5,)"), 20)));
  ASSERT_TRUE(single.ok());
  EXPECT_EQ(single->type, NpyType::kFloat32);
  EXPECT_EQ(single->ShapeText(), "(5,)");
  const auto scalar = ParseNpy(AsBytes(File(Dict("<f4", "()"), 4)));
  ASSERT_TRUE(scalar.ok());
  EXPECT_EQ(scalar->element_count, 1u);
}

TEST(Npy, TheOrderOfKeysAndTheQuotesAreFree) {
  const auto header =
      ParseNpy(AsBytes(File(R"({"shape":(2,3),"fortran_order":True,"descr":"<f4"})", 24)));
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_TRUE(header->fortran_order);
}

TEST(Npy, EmptyArraysHaveNoElementsHoweverLongTheirOtherSides) {
  const auto header =
      ParseNpy(AsBytes(File(Dict("<f4", "(9223372036854775807, 9223372036854775807, 0)"), 0)));
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->element_count, 0u);
}

TEST(Npy, RefusesOtherContents) {
  ExpectRefused("", "no .npy file");
  ExpectRefused("PK\x03\x04", "archive of arrays (.npz)");
  ExpectRefused(File(Dict("|O", "(2,)"), 16), "Python objects");
  ExpectRefused(File(Dict(">f4", "(2,)"), 8), "little-endian");
  ExpectRefused(File(Dict("<i8", "(2,)"), 16), "'<i8'");
  ExpectRefused(File(Dict("<f2", "(2,)"), 4), "'<f2'");
  ExpectRefused(File("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2,), }", 8),
                "records");
}

TEST(Npy, RefusesTruncatedAndExtendedFiles) {
  const std::string whole = File(Dict("<f4", "(2, 3)"), 24);
  ASSERT_TRUE(ParseNpy(AsBytes(whole)).ok());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    EXPECT_FALSE(ParseNpy(AsBytes(whole.substr(0, length))).ok()) << length;
  }
  ExpectRefused(whole.substr(0, whole.size() - 1), "needs 24 bytes of data and it has 23");
  ExpectRefused(whole + "x", "1 bytes follow");
}

TEST(Npy, RefusesFalseHeaders) {
  // 2^62 floats: more bytes than an offset can count; and a product that wraps to 1.
  ExpectRefused(File(Dict("<f4", "(4611686018427387904,)"), 8), "beyond any memory");
  ExpectRefused(File(Dict("<f4", "(4294967296, 4294967296)"), 8), "beyond any memory");
  ExpectRefused(File(Dict("<f4", "(1000000000000,)"), 8), "cut short");
  std::string claims = File(Dict("<f4", "(2,)"), 8, 2);
  claims[11] = '\x7f';
  ExpectRefused(claims, "at most 10000");
  std::string version = File(Dict("<f4", "(2,)"), 8);
  version[6] = '\x04';
  ExpectRefused(version, "version 4.0");
  version[6] = '\x01';
  version[7] = '\x01';
  ExpectRefused(version, "version 1.1");
}

TEST(Npy, RefusesHeadersThatAreNoDictionary) {
  for (const std::string& dict : std::vector<std::string>{
           "", "{", "{}", "{'descr': '<f4', 'shape': (2,)}", "[]",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'extra': 1}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (02,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775808,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': [2]}",
           "{'descr': '<f4' 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4\\n', 'fortran_order': False, 'shape': (2,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,)} import os"}) {
    ExpectRefused(File(dict, 8), "write it with numpy.save");
  }
  std::string many = "(";
  for (int i = 0; i < 33; ++i) many += "1,";
  ExpectRefused(File(Dict("<f4", many + ")"), 4), "more than 32 dimensions");
}

// A file of version 1.0 whose header is `dict` and nothing else.
std::string Unpadded(const std::string& dict, std::size_t data_bytes) {
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(dict.size() & 0xff);
  file += static_cast<char>(dict.size() >> 8);
  return file + dict + std::string(data_bytes, '\0');
}

TEST(Npy, ReadsHeadersThatOtherProgramsAndOldVersionsWrote) {
  for (const std::string& dict :
       std::vector<std::string>{Dict("<f4", "(2, 3)"),              // no padding and no line feed
                                Dict("<f4", "(2, 3)") + "\n",       // no padding
                                Dict("<f4", "(2, 3)") + "       ",  // no line feed
                                Dict("<f4", "(2L, 3L)") + "  \n",   // Python 2
                                "{u'descr': u'<f4', u'fortran_order': False, u'shape': (2, 3)}\n",
                                "{'descr':\t'<f4',\r\n'fortran_order': False, 'shape': (2,3)}\r\n",
                                Dict("=f4", "(2, 3)"), Dict("f4", "(2, 3)"), Dict("|f4", "(2, 3)"),
                                Dict("float32", "(2, 3)"), Dict("f", "(2, 3)"),
                                Dict("single", "(2, 3)"), Dict("<f", "(2, 3)")}) {
    const auto header = ParseNpy(AsBytes(Unpadded(dict, 24)));
    ASSERT_TRUE(header.ok()) << dict << header.status();
    EXPECT_EQ(header->type, NpyType::kFloat32);
    EXPECT_EQ(header->shape, (std::vector<std::uint64_t>{2, 3}));
    EXPECT_EQ(header->data_offset, 10 + dict.size());
  }
  for (const std::string descr : {"f8", "=f8", "float64", "double", "float", "d", "<d"}) {
    const auto header = ParseNpy(AsBytes(Unpadded(Dict(descr, "(3,)"), 24)));
    ASSERT_TRUE(header.ok()) << descr << header.status();
    EXPECT_EQ(header->type, NpyType::kFloat64);
  }
  // Not what numpy.dtype means by these names.
  for (const std::string descr : {"<float32", "", "<", "g", ">f4", "f2", "F"}) {
    ExpectRefused(Unpadded(Dict(descr, "(2,)"), 8), "the array's dtype is '" + descr + "'");
  }
  ExpectRefused(Unpadded("{udescr: '<f4'}", 8), "no dictionary");
}

TEST(Npy, WritesWhatNumpyWrites) {
  // numpy.save of numpy.zeros((2, 3), "<f4") with NumPy before 1.23; later versions pad by 64 more
  // bytes.
  const std::string header = EncodeNpyHeader(NpyType::kFloat32, {2, 3});
  EXPECT_EQ(header.size(), 128u);
  EXPECT_EQ(header.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_EQ(header.substr(10, 61), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }  ");
  EXPECT_EQ(header.back(), '\n');
}

RC_GTEST_PROP(NpyProperty, RoundTrips, ()) {
  const auto shape = *rc::gen::container<std::vector<std::uint64_t>>(
      *rc::gen::inRange(0, 5), rc::gen::inRange<std::uint64_t>(0, 7));
  const NpyType type = *rc::gen::element(NpyType::kFloat32, NpyType::kFloat64);
  std::uint64_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  const std::string file =
      EncodeNpyHeader(type, shape) + std::string(count * NpyItemBytes(type), 'x');
  const auto header = ParseNpy(AsBytes(file));
  RC_ASSERT(header.ok());
  RC_ASSERT(header->type == type);
  RC_ASSERT(header->shape == shape);
  RC_ASSERT(header->element_count == count);
  RC_ASSERT(header->data_offset % 64 == 0);
}

}  // namespace
}  // namespace ostraka::base::npy_test
