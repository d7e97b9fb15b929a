"""`judged abstain`."""


def test_a_threshold_is_chosen_or_tested(judged, write):
    lines = [(q, "a" if q % 10 else "b", 100 - q) for q in range(100)]
    write("q.txt", "".join(f"{q} 0 a 1\n" for q, _, _ in lines))
    write("r.run", "".join(f"{q} Q0 {d} 1 {s} r\n" for q, d, s in lines))
    chosen = judged("abstain q.txt r.run --risk 0.3")
    assert chosen.code == 0
    assert chosen.out.startswith("Answer from a best score of 1.0 on: r then answers 100.0 %")
    failed = judged("abstain q.txt r.run --risk 0.1 --threshold 1")
    assert failed.code == 1
    assert failed.out.startswith("FAILED: ")
    assert judged("abstain q.txt r.run --risk 0.3 --threshold 1").code == 0


def test_two_runs_are_an_error(judged, write):
    write("q.txt", "1 0 a 1\n")
    for name in ("r.run", "s.run"):
        write(name, "1 Q0 a 1 2 r\n")
    refused = judged("abstain q.txt r.run s.run")
    assert refused.code == 2
    assert refused.err == "judged: say which run: r, s.\n"
