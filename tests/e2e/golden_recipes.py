"""How each known answer of tests/vectors/aggregation.json is reproduced from the shell."""


def f_of(params):
    return params.get("f", params.get("num_malicious"))


def rule_recipe(lib, rule, p):
    """Arguments of `ostraka aggregate`, without files; None if it is no rule."""
    f = ["--f", f_of(p)] if f_of(p) is not None else []
    weiszfeld = ["--param", "variant=weiszfeld", "--param", "nu=0.1"]
    return {
        ("byzfl", "Average"): lambda: ["--rule", "mean"],
        ("byzfl", "Median"): lambda: ["--rule", "median"],
        ("byzfl", "TrMean"): lambda: ["--rule", "trimmed_mean", *f],
        ("byzfl", "GeometricMedian"): lambda: ["--rule", "geometric_median", *weiszfeld, "--param",
                                               f"T={p['T']}"],
        ("byzfl", "Krum"): lambda: ["--rule", "krum", "--param", "variant=byzfl", *f],
        ("byzfl", "MultiKrum"): lambda: ["--rule", "multi_krum", "--param", "variant=byzfl", *f],
        ("byzfl", "CenteredClipping"): lambda: [
            "--rule", "centered_clip", "--param", "variant=steps", "--param", f"L={p['L']}",
            "--param", f"tau={p['tau']}"],
        ("byzfl", "MDA"): lambda: ["--rule", "mda", *f],
        ("byzfl", "MoNNA"): lambda: ["--rule", "monna", "--param", f"idx={p['idx']}", *f],
        ("byzfl", "Meamed"): lambda: ["--rule", "meamed", *f],
        ("byzfl", "NNM"): lambda: ["--pre", "nnm", *f],
        ("byzfl", "Clipping"): lambda: ["--pre", f"clipping:c={p['c']}"],
        ("byzfl", "ARC"): lambda: ["--pre", "arc", *f],
        ("byzfl", "Clipping(2)+NNM+TrMean"): lambda: [
            "--pre", "clipping:c=2", "--pre", "nnm", "--rule", "trimmed_mean", *f],
        ("byzfl", "ARC+NNM+GeometricMedian"): lambda: [
            "--pre", "arc", "--pre", "nnm", "--rule", "geometric_median", *weiszfeld, "--param",
            "T=3", *f],
        ("exact", "SMEA"): lambda: ["--rule", "smea", *f],
        ("exact", "CAF"): lambda: ["--rule", "caf", *f],
        ("exact", "GeometricMedian"): lambda: ["--rule", "geometric_median", "--param", "nu=1e-6"],
        ("exact", "Krum (paper: n-f-2, sq. dist)"): lambda: ["--rule", "krum", *f],
        ("exact", "MultiKrum (paper, m=n-f-2)"): lambda: [
            "--rule", "multi_krum", "--param", f"m={p['m']}", *f],
        ("byzmom", "krum"): lambda: ["--rule", "multi_krum", "--param", "variant=byzmom", *f],
        ("byzmom", "brute"): lambda: ["--rule", "mda", *f],
        ("byzmom", "trmean"): lambda: ["--rule", "trimmed_mean", *f],
        ("byzmom", "median"): lambda: ["--rule", "median", "--param", "variant=lower", *f],
        ("byzmom", "aksel"): lambda: ["--rule", "aksel", "--param", "median=lower", *f],
        ("byzmom", "cge"): lambda: ["--rule", "cge", *f],
        ("byzmom", "phocas"): lambda: ["--rule", "phocas", *f],
        ("byzmom", "meamed"): lambda: ["--rule", "meamed", *f],
        ("fedlib", "Median"): lambda: ["--rule", "median"],
        ("fedlib", "Trimmedmean"): lambda: ["--rule", "trimmed_mean", *f],
        ("fedlib", "Multikrum"): lambda: [
            "--rule", "multi_krum", "--param", "variant=epfl", "--param", f"m={p['k']}", *f],
        ("fedlib", "Centeredclipping"): lambda: [
            "--rule", "centered_clip", "--param", "variant=steps", "--param", f"L={p['n_iter']}",
            "--param", f"tau={p['tau']}"],
        ("fedlib", "DnC"): lambda: [
            "--rule", "dnc", "--param", f"iterations={p['num_iters']}", *f],
        ("flower", "krum"): lambda: ["--rule", "krum", *f],
        ("flower", "multikrum"): lambda: [
            "--rule", "multi_krum", "--param", f"m={p['to_keep']}", *f],
        # int(0.2 * 8) rows are cut on each side.
        ("flower", "trimmed_avg"): lambda: ["--rule", "trimmed_mean", "--f", 1],
        ("flower", "median"): lambda: ["--rule", "median"],
    }.get((lib, rule), lambda: None)()


def attack_recipe(lib, rule, p):
    """Arguments of `ostraka attack`, without files."""
    perturbation = {"unit_vec": "unit"}.get(p.get("dev"), p.get("dev"))
    against = {"TrMean": ["--rule", "trimmed_mean"],
               # The golden values come from searches against ByzFL's definitions of the rules.
               "Krum": ["--rule", "krum", "--rule-param", "variant=byzfl"],
               "GeometricMedian": ["--rule", "geometric_median", "--rule-param",
                                   "variant=weiszfeld", "--rule-param", "nu=0.1", "--rule-param",
                                   "T=3"]}.get(p.get("agg"), [])
    search = ["--pre", "nnm", "--byzantine", p.get("f"), *against]
    return {
        # ByzFL reverses the honest mean here.
        ("byzfl", "SignFlipping"): lambda: ["--name", "sign_flip", "--param", "lambda=1"],
        ("byzfl", "InnerProductManipulation"): lambda: [
            "--name", "ipm", "--param", f"eps={p['tau']}"],
        ("byzfl", "ALittleIsEnough"): lambda: [
            "--name", "alie", "--param", f"z=-{p['tau']}", "--param", "ddof=1"],
        ("byzfl", "Mimic"): lambda: ["--name", "mimic", "--param", f"epsilon={p['epsilon']}"],
        ("byzfl", "Optimal_InnerProductManipulation"): lambda: ["--name", "opt_ipm", *search],
        ("byzfl", "Optimal_ALittleIsEnough"): lambda: ["--name", "opt_alie", *search],
        ("ndss21", "minmax"): lambda: [
            "--name", "min_max", "--param", f"perturbation={perturbation}"],
        ("ndss21", "minsum"): lambda: [
            "--name", "min_sum", "--param", f"perturbation={perturbation}"],
    }.get((lib, rule), lambda: None)()
