"""Network: what its tables say, what it refuses with file and line, and what it becomes as arrays."""

import contextlib
import gzip
import math
import pickle

import numpy as np
import pandas
import pyarrow as pa
import pytest

import topicloom as tl
from topicloom.errors import InputNotFoundError, InvalidNetworkError, InvalidOptionError, TopicloomError
from topicloom.model import ForbiddenLinks

NODES = {
    "node": ["a", "b", "c", "d", "hub"],
    "site": ["north", "north", "south", "south", "cloud"],
    "max_links": [2, None, None, None, None],
    "relay": [None, None, None, None, True],
    "price_of_relaying": [None, None, None, None, 0.5],
    "rack": ["r1", "r2", "r1", "r2", "r3"],
}
SITE_PAIRS = {
    "from": ["north", "north", "cloud", "south", "south"],
    "to": ["south", "cloud", "north", "cloud", "south"],
    "price": [30, 10, None, 12, 2],
    "may_dial": [None, True, False, None, None],
}


def network(**tables):
    return tl.Network.from_tables(**{"nodes": NODES, "site_pairs": SITE_PAIRS, **tables})


def written(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_a_link_costs_what_its_sites_or_its_own_row_say():
    pairs = {"src": ["c", "b"], "dst": ["a", "d"], "price": [7, None], "forbidden": [None, True]}
    there = network(pairs=pairs)
    assert [there.price(*ends) for ends in ("ab", "cd", "bc", "ac")] == [1, 2, 30, 7]
    assert there.price("a", "hub") == there.price("hub", "a") == 10
    assert there.price("b", "d") == math.inf


def test_sites_without_a_row_may_not_be_linked_unless_the_row_of_all_sites_says_so():
    rows = {"from": ["north"], "to": ["south"], "price": [30]}
    assert network(site_pairs=rows).price("a", "hub") == math.inf
    rows = {"from": ["north", "*"], "to": ["south", "*"], "price": [30, 50]}
    assert [network(site_pairs=rows).price(*ends) for ends in (("a", "hub"), ("a", "c"), ("a", "b"))] == [50, 30, 1]
    assert network(site_pairs={"from": ["south"], "to": ["south"], "price": [3]}).price("a", "hub") == 1


def test_who_may_dial_depends_on_both_nodes_and_on_the_direction_between_their_sites():
    nodes = {**NODES, "dials": [False, None, None, None, None]}
    there = network(nodes=nodes)
    assert there.price("b", "hub") == 10  # north dials the cloud
    assert there.price("a", "hub") == math.inf  # a does not dial, and the cloud may not dial north
    assert there.price("a", "c") == 30  # c dials a


def test_the_arrays_say_what_the_names_say():
    pairs = [
        {"src": "a", "dst": "c", "price": 7.0, "standing": True},
        {"src": "b", "dst": "d", "forbidden": True, "standing": True},
        {"src": "hub", "dst": "a", "required": True},
    ]
    topics = [{"topic": "x", "rate": 5, "allowed_sites": "north;south"}, {"topic": "y", "rate": 0}]
    there = network(pairs=pairs, topics=topics)
    interest = there.widened(tl.Interest.from_pairs(list("abcdab"), list("xxxxyz")))
    arrays = there.resolve(interest, survive="rack", keep=0.3)
    assert interest.node_labels.tolist() == ["a", "b", "c", "d", "hub"]
    rules = (arrays.dials, arrays.accepts)
    for u in range(5):
        for v in range(u + 1, 5):
            code, ends = u << 32 | v, (arrays.site[u], arrays.site[v])
            at = np.searchsorted(arrays.pair_codes, code)
            if at < len(arrays.pair_codes) and arrays.pair_codes[at] == code:
                price = arrays.pair_price[at]
            else:
                ways = [(u, v, *ends), (v, u, *ends[::-1])]
                may = any(rules[0][i] and rules[1][j] and arrays.may_dial[s, t] for i, j, s, t in ways)
                price = arrays.price[ends] if may else math.inf
            assert price == there.price(interest.node_label(u), interest.node_label(v))
    assert arrays.required.tolist() == [[0, 4]]
    assert arrays.standing.tolist() == [[0, 2]]  # a forbidden link cannot stay
    assert arrays.cap.tolist() == [2, -1, -1, -1, -1]
    assert arrays.relay.tolist() == [False] * 4 + [True]
    assert arrays.row_price.tolist() == [0, 0, 0, 0, 0.5]
    assert arrays.weight.tolist() == [5, 1, 1]  # a rate of 0 weighs as the lowest that there is
    assert arrays.allowed_sites.tolist() == [[False, True, True], [True] * 3, [True] * 3]
    assert arrays.survive.tolist() == [0, 1, 0, 1, 2]
    assert arrays.keep == 0.3
    for array in (arrays.price, arrays.may_dial):
        assert array.shape == (3, 3)


def test_a_pair_with_a_price_lets_nobody_dial():
    there = network(
        nodes={**NODES, "dials": [False, False, None, None, None]}, pairs=[{"src": "a", "dst": "b", "price": 3}]
    )
    arrays = there.resolve(tl.Interest.from_pairs(["a", "b"], ["x", "x"]))
    assert there.price("a", "b") == math.inf
    assert arrays.pair_price.tolist() == [math.inf]


def test_nodes_that_only_relay_are_added_in_the_order_of_labels():
    there = tl.Network.from_tables({"node": ["b", "a", "c"], "relay": [None, "yes", None]})
    interest = tl.Interest.from_pairs(["b", "c"], ["x", "x"], roles=["publish", "both"])
    wide = there.widened(interest)
    assert wide.node_labels.tolist() == ["a", "b", "c"]
    assert wide.subscribers("x") == ["b", "c"]
    assert wide.roles.tolist() == interest.roles.tolist()
    assert tl.Network.from_tables({"node": ["b", "c"]}).widened(interest) is interest


def test_it_reads_a_folder_as_spreadsheets_write_it(tmp_path):
    folder = written(
        tmp_path,
        nodes="Node;Site;Max_Links;Relay;note\na ;north;2;no;one\nb;south;;x;\n",
        topics="topic;rate;allowed_sites\nx;2.5;\n",
    )
    with gzip.open(tmp_path / "site_pairs.csv.gz", "wt") as file:
        file.write("from,to,price,may_dial\nnorth,south,12.5,yes\n")
    (tmp_path / "README.md").write_text("not a table")
    there = tl.Network.read(folder)
    assert there.price("a ", "b") == 12.5
    assert there.rates() == {"x": 2.5}
    assert [node.max_links for node in there.nodes] == [2, None]
    assert there.units(["a "], "note").tolist() == [0]
    assert [node.node for node in tl.Network.read(folder, trim=True).nodes] == ["a", "b"]


def test_tables_of_pandas_arrow_and_rows_are_the_same():
    columns = {"node": ["a", "b"], "max_links": [3, None], "relay": ["yes", None]}
    rows = [{"node": "a", "max_links": 3, "relay": True}, {"node": "b"}]
    made = [tl.Network.from_tables(table) for table in (columns, rows, pandas.DataFrame(columns), pa.table(columns))]
    assert all(one == made[0] for one in made)
    assert pickle.loads(pickle.dumps(made[0])) == made[0]


def test_what_it_keeps_is_what_it_was():
    pairs = [{"src": "a", "dst": "b", "price": 2, "required": True}]
    there = network(pairs=pairs, topics=[{"topic": "x", "allowed_sites": "north;south"}, {"topic": "y", "rate": 3}])
    assert tl.Network.from_kept(there.tables()) == there
    assert sorted(there.tables()) == ["nodes", "pairs", "site_pairs", "topics", "units"]


def test_rules_on_nodes_and_pairs_alone_are_forbidden_links():
    there = tl.Network.from_tables(
        {"node": ["a", "b", "c"], "accepts": ["yes", "no", "no"]}, pairs=[{"src": "b", "dst": "a", "forbidden": "yes"}]
    )
    assert there.forbidden_links() == ForbiddenLinks([("a", "b")], no_accept={"b", "c"})
    assert not there.beyond_forbidden
    there.refuse("refine")
    assert network().beyond_forbidden == ("prices", "who may dial between sites", "limits of links", "relays")
    with pytest.raises(InvalidOptionError, match="refine does not keep to the network of the overlay"):
        network().refuse("refine")


WRONG = [
    ({"nodes": "node\na\na\n"}, "nodes.csv line 3: 'a' stands twice, first at nodes.csv line 2"),
    ({"nodes": "node,site\na,n\nb,\n"}, "nodes.csv line 3: node 'b' has no site"),
    ({"nodes": "node,max_links\na,-1\n"}, "nodes.csv line 2: max_links is -1"),
    ({"nodes": "node,max_links\na,1.5\n"}, "nodes.csv line 2: max_links is 1.5"),
    ({"nodes": "node,relay\na,maybe\n"}, "nodes.csv line 2: relay is 'maybe'; yes or no"),
    ({"nodes": "node,maxlinks\na,3\n"}, "nodes.csv line 2: there is a column 'maxlinks'; perhaps 'max_links'"),
    ({"nodes": "broker\na\n"}, "nodes.csv: there is no column 'node'; it has broker"),
    ({"nodes": "node,node\na,a\n"}, "nodes.csv: the column 'node' is named twice"),
    ({"nodes": "node,site\na\n"}, "nodes.csv line 2: 1 cells under 2 columns"),
    ({"nodes": "node,price_of_relaying\na,-2\n"}, "nodes.csv line 2: price_of_relaying is -2"),
    ({"sites": "site\nn\n"}, "nodes.csv line 3: node 'b' is at 's', which is not in sites"),
    ({"site_pairs": "from,to,price\nn,x,3\n"}, "site_pairs.csv line 2: there is no site 'x'; the sites are 'n', 's'"),
    ({"site_pairs": "from,to,price\nn,s,-3\n"}, "site_pairs.csv line 2: price is -3; a number above 0"),
    ({"site_pairs": "from;to;price\nn;s;3,5\n"}, "site_pairs.csv line 2: price is '3,5', not a number; write 3.5"),
    ({"site_pairs": "from,to,price\nn,s,nan\n"}, "site_pairs.csv line 2: price is nan"),
    ({"site_pairs": "from,to,price\nn,s,3\ns,n,4\n"}, "costs 3, and the other way 4 (site_pairs.csv line 3)"),
    ({"site_pairs": "from,to,price\nn,s,3\nn,s,3\n"}, "'n' – 's' stands twice, first at site_pairs.csv line 2"),
    ({"site_pairs": "from,to,price\nn,*,3\n"}, "'*' stands for every site in both columns or in none"),
    ({"sites": "site,price\nn,1\ns,1\n", "site_pairs": "from,to,price\nn,n,2\n"}, "a link inside 'n' costs 2, and 1"),
    ({"pairs": "src,dst,price\na,z,1\n"}, "pairs.csv line 2: there is no node 'z' in nodes"),
    ({"pairs": "src,dst,forbidden,required\na,b,yes,yes\n"}, "pairs.csv line 2: the link 'a' – 'b' is required and"),
    ({"pairs": "src,dst,price\na,a,1\n"}, "pairs.csv line 2: node 'a' stands beside itself"),
    ({"pairs": "src,dst,price\na,b,1\nb,a,1\n"}, "pairs.csv line 3: 'a' – 'b' stands twice, first at pairs.csv line 2"),
    (
        {"pairs": "src,dst,required\na,b,yes\n", "site_pairs": "from,to,may_dial\nn,s,no\n"},
        "pairs.csv line 2: the link 'a' – 'b' is required, and neither end may dial the other",
    ),
    (
        {"nodes": "node,max_links\na,1\nb,\nc,\n", "pairs": "src,dst,required\na,b,yes\nc,a,yes\n"},
        "nodes.csv line 2: node 'a' may have 1 links, and 2 are required (pairs.csv line 2 to pairs.csv line 3)",
    ),
    ({"topics": "topic,rate\nx,-1\n"}, "topics.csv line 2: rate is -1"),
    ({"topics": "topic,allowed_sites\nx,n;q\n"}, "topics.csv line 2: topic 'x' names the site 'q'"),
    ({"topics": "topic,ratte\nx,1\n"}, "topics.csv line 2: there is a column 'ratte'; known are topic, rate"),
    ({"node_pairs": "src,dst\na,b\n"}, "node_pairs.csv is no table of a network; nodes, sites, site_pairs"),
]


@pytest.mark.parametrize(("files", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_mistake_is_a_sentence_with_file_and_line(tmp_path, files, sentence):
    folder = written(tmp_path, **{"nodes": "node,site\na,n\nb,s\n", **files})
    with pytest.raises(InvalidNetworkError) as raised:
        tl.Network.read(folder)
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_without_nodes_is_refused(tmp_path):
    with pytest.raises(InputNotFoundError, match=r"has no nodes\.csv"):
        tl.Network.read(tmp_path)
    with pytest.raises(InputNotFoundError, match="is not a folder"):
        tl.Network.read(tmp_path / "nodes.csv")


def test_an_interest_that_does_not_fit_is_refused(tmp_path):
    there = tl.Network.read(written(tmp_path, nodes="node,site\na,n\nb,s\n", topics="topic,allowed_sites\nx,n\n"))
    with pytest.raises(InvalidNetworkError, match="1 nodes of the subscriptions are not in nodes, such as 'c'"):
        there.resolve(tl.Interest.from_pairs(["a", "c"], ["x", "x"]))
    with pytest.raises(
        InvalidNetworkError, match=r"topics\.csv line 2: topic 'x' may not leave 'n', and node 'b' at 's'"
    ):
        there.resolve(tl.Interest.from_pairs(["a", "b"], ["x", "x"]))
    fitting = tl.Interest.from_pairs(["a", "b"], ["x", "y"])
    with pytest.raises(
        InvalidOptionError, match="nodes have no column 'rack' of what fails together; they have 'site'"
    ):
        there.resolve(fitting, survive="rack")
    with pytest.raises(InvalidOptionError, match="keep is 1; a number from 0 to below 1"):
        there.resolve(fitting, keep=1)


def test_a_node_without_a_unit_is_refused(tmp_path):
    there = tl.Network.read(written(tmp_path, nodes="node,rack\na,r\nb,\n"))
    with pytest.raises(TopicloomError, match=r"nodes\.csv line 3: node 'b' has no rack"):
        there.units(["a", "b"], "rack")


HOSTILE = [
    "",
    " ",
    "a",
    "b",
    "n",
    "s",
    "*",
    "0",
    "-1",
    "1e400",
    "1e30",
    "nan",
    "yes",
    "no",
    "x",
    "1,5",
    ";",
    "n;s",
    "=1+1",
    "ä\u200b",
    '"',
]
COLUMNS = {
    "nodes": "node,site,max_links,relay,price_of_relaying,dials,accepts,rack",
    "sites": "site,price,may_dial",
    "site_pairs": "from,to,price,may_dial",
    "pairs": "src,dst,price,forbidden,required,standing",
    "topics": "topic,rate,allowed_sites",
}


def test_hostile_cells_are_a_network_or_a_sentence(tmp_path):
    rng = np.random.default_rng(5)
    made = 0
    for case in range(400):
        folder = tmp_path / str(case)
        folder.mkdir()
        for name, header in COLUMNS.items():
            if name == "nodes" or rng.random() < 0.4:
                rows = [rng.choice(HOSTILE, header.count(",") + 1) for _ in range(rng.integers(1, 3))]
                if name == "nodes" and rng.random() < 0.7:
                    rows = [[label, "n", "", "", "", "", "", rng.choice(HOSTILE)] for label in "ab"]
                quoted = [",".join('"' + cell.replace('"', '""') + '"' for cell in row) for row in rows]
                (folder / f"{name}.csv").write_text("\n".join([header, *quoted]))
        try:
            network = tl.Network.read(folder)
            network.resolve(network.widened(tl.Interest.from_pairs(["a", "b"], ["a", "a"])), survive="rack")
            assert tl.Network.from_kept(network.tables()) == network
            made += 1
        except TopicloomError as error:
            assert "\n" not in str(error)
    assert made > 20


def test_bytes_that_are_no_table_are_a_sentence(tmp_path):
    rng = np.random.default_rng(6)
    for _ in range(100):
        (tmp_path / "nodes.csv").write_bytes(b"node,site\n" + rng.bytes(int(rng.integers(1, 60))))
        with contextlib.suppress(TopicloomError):
            tl.Network.read(tmp_path)


def test_a_list_in_a_cell_says_several_sites():
    there = network(topics=pa.table({"topic": ["x"], "allowed_sites": [["north", "south"]]}))
    assert there.topics[0].allowed_sites == ("north", "south")
