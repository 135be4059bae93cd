"""Which cases are compared: servers by one load tool, clients of one server."""

from hypothesis import given
from hypothesis import strategies as st
from made import plain

from benchforge.model.values.case_name import CaseName, among, groups, server_names

SCENARIOS = ("by tools", "by clients")
NAMES = st.builds(
    lambda scenario, server, driver, size, verify, tls, placebo: plain.named(
        server,
        scenario=scenario,
        driver=driver,
        vary={"path.size": size, "clients.*.verify": verify, "servers.*.tls": tls},
        placebo=placebo,
    ),
    st.sampled_from(SCENARIOS),
    st.sampled_from("ab"),
    st.sampled_from("xyz"),
    st.sampled_from((4, 8)),
    st.booleans(),
    st.booleans(),
    st.booleans(),
)


@given(st.lists(NAMES, unique_by=lambda name: name.title))
def test_each_case_is_in_one_group(names: list[CaseName]) -> None:
    grouped = groups(names, {"by clients"})
    assert sorted((name for group in grouped for name in group), key=names.index) == [
        name for name in names if not name.placebo
    ]
    for group in grouped:
        first = group[0]
        assert len({name.scenario for name in group}) == 1
        assert len({str(name.vary["path.size"]) for name in group}) == 1
        if first.scenario == "by clients":
            assert {(name.server, name.vary["servers.*.tls"]) for name in group} == {
                (first.server, first.vary["servers.*.tls"])
            }
        else:
            assert {(name.driver, name.vary["clients.*.verify"]) for name in group} == {
                (first.driver, first.vary["clients.*.verify"])
            }
        labels = server_names(group)
        assert len({*labels}) == len(group)
        subject = among(group)
        for label, name in zip(labels, group, strict=True):
            assert label.startswith(name.server if subject == "servers" else name.driver)


def test_clients_are_named_by_what_varies_of_them() -> None:
    named, anew = (
        plain.named("http", driver=item, vary={"clients.*.verify": False}) for item in "ka"
    )
    assert server_names([named, anew]) == ["k, verify False", "a, verify False"]
    assert server_names([named]) == ["http"]
