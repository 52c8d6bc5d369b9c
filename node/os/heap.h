// How this process takes memory from the system and gives it back.
//
// Thread safety: a free function; call it before the process has threads.
#pragma once

namespace ostraka::os {

// Takes one heap for all threads, of which what lies free at its end goes back to the system from
// 16 MiB on. Why: glibc gives each thread a heap of its own, and each keeps what was freed in it. A
// vector of a model's size is made by one thread and freed by another, so a member of a run of 3.2
// million parameters kept 60 MB that nothing used. Does nothing with other C libraries.
void UseOneHeap();

}  // namespace ostraka::os
