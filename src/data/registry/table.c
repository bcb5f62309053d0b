/* The table of public sets. */

/*
 * The hashes of the Planetoid, Geom-GCN and most Yandex files were computed from the files. Those
 * of ind.pubmed.allx, squirrel_filtered, tolokers, roman_empire, amazon_ratings and questions are
 * the ones on which several independent public records agree for these commits. wisconsin.npz has
 * none: its first download records its hash.
 */
#include "data/registry/table.h"

#define PLANETOID                                            \
    "https://raw.githubusercontent.com/kimiyoung/planetoid/" \
    "af6abf468a772cc055bec88c52e4d6f51b7c37e3/data/"
#define YANDEX                                                                \
    "https://raw.githubusercontent.com/yandex-research/heterophilous-graphs/" \
    "a431395582e929d88271309716bea4fe24ce6318/data/"
#define GEOM_GCN                                                    \
    "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/" \
    "f1fc0d14b3b019c562737240d06ec83b07d16a8f/"

static const struct data_file cora_files[] = {
    {"planetoid/ind.cora.x", "ind.cora.x",
     "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"},
    {"planetoid/ind.cora.tx", "ind.cora.tx",
     "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"},
    {"planetoid/ind.cora.allx", "ind.cora.allx",
     "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"},
    {"planetoid/ind.cora.y", "ind.cora.y",
     "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"},
    {"planetoid/ind.cora.ty", "ind.cora.ty",
     "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"},
    {"planetoid/ind.cora.ally", "ind.cora.ally",
     "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"},
    {"planetoid/ind.cora.graph", "ind.cora.graph",
     "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"},
    {"planetoid/ind.cora.test.index", "ind.cora.test.index",
     "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"},
};
static const struct data_file citeseer_files[] = {
    {"planetoid/ind.citeseer.x", "ind.citeseer.x",
     "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"},
    {"planetoid/ind.citeseer.tx", "ind.citeseer.tx",
     "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"},
    {"planetoid/ind.citeseer.allx", "ind.citeseer.allx",
     "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"},
    {"planetoid/ind.citeseer.y", "ind.citeseer.y",
     "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"},
    {"planetoid/ind.citeseer.ty", "ind.citeseer.ty",
     "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"},
    {"planetoid/ind.citeseer.ally", "ind.citeseer.ally",
     "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"},
    {"planetoid/ind.citeseer.graph", "ind.citeseer.graph",
     "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"},
    {"planetoid/ind.citeseer.test.index", "ind.citeseer.test.index",
     "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"},
};
static const struct data_file pubmed_files[] = {
    {"planetoid/ind.pubmed.x", "ind.pubmed.x",
     "fbe9cb5c47200d1b7769a26e579be3b7130b556831f9d850e77c4c74f2599b33"},
    {"planetoid/ind.pubmed.tx", "ind.pubmed.tx",
     "4eb5f5d0f30f26497eb0ac6ac9719d09c67e284f1ed0385c93f3ef27a671da3d"},
    {"planetoid/ind.pubmed.allx", "ind.pubmed.allx",
     "508e538e2abdccdd54c4d3e9f49d638b4af7107d85845f66ddea5a5152658b7e"},
    {"planetoid/ind.pubmed.y", "ind.pubmed.y",
     "e6c807633307a07ed659249006536a147c7999c797f11a2560752990181b41b3"},
    {"planetoid/ind.pubmed.ty", "ind.pubmed.ty",
     "ee2e0d4819d9fbcc403689c3bf2e49face401b605932f093bc58ab6461130fdd"},
    {"planetoid/ind.pubmed.ally", "ind.pubmed.ally",
     "0c37bbe3b5014ec365e9d393cf4791925e5ed94fb194305d74f064a8d7b50f0e"},
    {"planetoid/ind.pubmed.graph", "ind.pubmed.graph",
     "5b89f0036ca22909471f1e6558eb42fa06e0c730a577bde5b058b40638f81dc9"},
    {"planetoid/ind.pubmed.test.index", "ind.pubmed.test.index",
     "b101d421688bbaecbd82e8a18f1e282378d6830f3a37666f28ebc47f844341b5"},
};
static const struct data_file actor_files[] = {
    {"geom-gcn/film/out1_node_feature_label.txt", "new_data/film/out1_node_feature_label.txt",
     "1d5cdd094f8b91e770f6decfca85b35cf42f75d1efb51055fd6af16e11820ff8"},
    {"geom-gcn/film/out1_graph_edges.txt", "new_data/film/out1_graph_edges.txt",
     "997cdce67ea9c29257d3ffe796328391931901cf823830affa453178b60e2c3e"},
    {"geom-gcn/splits/film_split_0.6_0.2_0.npz", "splits/film_split_0.6_0.2_0.npz",
     "4505a41d4e90abd94d1ec22571ce528b09ad7cf20d87f764aebd4177590767f5"},
    {"geom-gcn/splits/film_split_0.6_0.2_1.npz", "splits/film_split_0.6_0.2_1.npz",
     "1871b0d24e3977c41e378fd24acc8025b63f86b77739be77a5b558d1287f207d"},
    {"geom-gcn/splits/film_split_0.6_0.2_2.npz", "splits/film_split_0.6_0.2_2.npz",
     "d26680e911ef3ecc9fc2a26d90c9d35028c63aadd7a5aea774649d1496c282cb"},
    {"geom-gcn/splits/film_split_0.6_0.2_3.npz", "splits/film_split_0.6_0.2_3.npz",
     "6755ad5f6a0be8594b344af3d2261eed935b83b73c4d70136e1a7beea7f78cb0"},
    {"geom-gcn/splits/film_split_0.6_0.2_4.npz", "splits/film_split_0.6_0.2_4.npz",
     "328fdca62b25074f21f2922518e042f24b3b8a1fc378f9dfb2cae36439aed902"},
    {"geom-gcn/splits/film_split_0.6_0.2_5.npz", "splits/film_split_0.6_0.2_5.npz",
     "5b3161a8dc8de4b2e651ebd56d68e768d1377044895b325566117fe26ab81cb7"},
    {"geom-gcn/splits/film_split_0.6_0.2_6.npz", "splits/film_split_0.6_0.2_6.npz",
     "e251b38abd4d7931b5e9ae5aba99dcdf87f0be283bdf6e65421274a1c9ef1df6"},
    {"geom-gcn/splits/film_split_0.6_0.2_7.npz", "splits/film_split_0.6_0.2_7.npz",
     "12164ef9f5620a2f12a387f4f2b8636859d42201101d6d32829ade62d5a98326"},
    {"geom-gcn/splits/film_split_0.6_0.2_8.npz", "splits/film_split_0.6_0.2_8.npz",
     "405cd1f7f631f678119f8bf2405809e86614d532985beb59566fcf95abd35b3f"},
    {"geom-gcn/splits/film_split_0.6_0.2_9.npz", "splits/film_split_0.6_0.2_9.npz",
     "505691c5d41bb37b20d085415dcdde2e8e68b5bc4e1feb2c0e361308002012bb"},
};
static const struct data_file chameleon_files[] = {
    {"yandex/chameleon_directed.npz", "chameleon_directed.npz",
     "34aea6b6888063544232100d53d4aa7e87e37953ec8dd3a7092afb25bb2f0328"},
};
static const struct data_file squirrel_files[] = {
    {"yandex/squirrel_directed.npz", "squirrel_directed.npz",
     "3f0436486716cf77b651c372e54f6b4c2cc52262e7faeeab584a34b41bae2616"},
};
static const struct data_file chameleon_filtered_files[] = {
    {"yandex/chameleon_filtered.npz", "chameleon_filtered.npz",
     "bf46f07e1fb5249280447e5fe3100f3e82fc4b93ad1e13ffcfdec924b6ac0bb5"},
};
static const struct data_file squirrel_filtered_files[] = {
    {"yandex/squirrel_filtered.npz", "squirrel_filtered.npz",
     "f06370ffb3116c5de8b7a600005400b2293c025e0ce2f6916d8201a825505ac7"},
};
static const struct data_file texas_files[] = {
    {"yandex/texas.npz", "texas.npz",
     "b164b99e6c3d43e4ab07488ec59bd8c815f90cbc1bd4cf425ce587d2b534d844"},
};
static const struct data_file cornell_files[] = {
    {"yandex/cornell.npz", "cornell.npz",
     "684c54ba3daa13b0ba1f04a3d6dd1b1175c1ae9bdeb982851fd4ff96d3aac298"},
};
static const struct data_file wisconsin_files[] = {
    {"yandex/wisconsin.npz", "wisconsin.npz", NULL},
};
static const struct data_file minesweeper_files[] = {
    {"yandex/minesweeper.npz", "minesweeper.npz",
     "e664c8dacf1e8ac466c2c09ed4b237bd2c5541f47a6eae9c6092cb87f16412b3"},
};
static const struct data_file tolokers_files[] = {
    {"yandex/tolokers.npz", "tolokers.npz",
     "dacf3ac94cec53d03cd2adb5255c08b33dee1656c33ca8164a464bd9450a1667"},
};
static const struct data_file roman_empire_files[] = {
    {"yandex/roman_empire.npz", "roman_empire.npz",
     "a58ba741d123bf892fe5c872138d07463d75a2e9012360b8dd78ac2d4766d428"},
};
static const struct data_file amazon_ratings_files[] = {
    {"yandex/amazon_ratings.npz", "amazon_ratings.npz",
     "4c3a3e3b9d9f6cba0fede4625a00aad8c5721c1a36ed771367f446763241c7dd"},
};
static const struct data_file questions_files[] = {
    {"yandex/questions.npz", "questions.npz",
     "757ebd772bab1475c4dd951ca9e364400c6db161656cff9d21780ee874cf3074"},
};

#define FILES(name) name##_files, (int)(sizeof name##_files / sizeof *name##_files)

#define YANG                                                                                  \
    "Yang, Cohen, Salakhutdinov: Revisiting semi-supervised learning with graph embeddings, " \
    "ICML 2016; from Sen et al.: Collective classification in network data, AI Magazine 2008"
#define PEI "Pei et al.: Geom-GCN: geometric graph convolutional networks, ICLR 2020"
#define ROZEMBERCZKI                                                                          \
    "Rozemberczki, Allen, Sarkar: Multi-scale attributed node embedding, Journal of Complex " \
    "Networks 2021; classes and splits by " PEI
#define PLATONOV                                                                                   \
    "Platonov et al.: A critical look at the evaluation of GNNs under heterophily: are we really " \
    "making progress?, ICLR 2023"
#define MIT_CODE "repository: MIT; the data has no licence of its own"

const struct data_set registry_table[] = {
    {"cora", NULL, "planetoid", PLANETOID, FILES(cora),
     "papers on machine learning and their citations, 7 topics", YANG, MIT_CODE,
     "bag of words as 0/1; citations made undirected"},
    {"citeseer", NULL, "planetoid", PLANETOID, FILES(citeseer),
     "papers on computer science and their citations, 6 topics", YANG, MIT_CODE,
     "bag of words as 0/1; citations made undirected; 15 isolated test nodes have no features"},
    {"pubmed", NULL, "planetoid", PLANETOID, FILES(pubmed),
     "papers on diabetes and their citations, 3 kinds", YANG, MIT_CODE,
     "TF-IDF features; citations made undirected"},
    {"actor", "film", "geom-gcn", GEOM_GCN, FILES(actor),
     "actors who share a Wikipedia page, 5 groups of keywords",
     PEI "; from Tang et al.: Social influence analysis in large-scale networks, KDD 2009",
     "none stated", "keywords as 0/1"},
    {"chameleon", NULL, "npz", YANDEX, FILES(chameleon),
     "Wikipedia pages on chameleons and their links, 5 levels of traffic", ROZEMBERCZKI, MIT_CODE,
     "nouns as 0/1; many pages occur twice or more: see chameleon-filtered"},
    {"squirrel", NULL, "npz", YANDEX, FILES(squirrel),
     "Wikipedia pages on squirrels and their links, 5 levels of traffic", ROZEMBERCZKI, MIT_CODE,
     "nouns as 0/1; many pages occur twice or more: see squirrel-filtered"},
    {"chameleon-filtered", NULL, "npz", YANDEX, FILES(chameleon_filtered),
     "chameleon without its duplicate pages", PLATONOV, MIT_CODE,
     "duplicates removed, links made undirected"},
    {"squirrel-filtered", NULL, "npz", YANDEX, FILES(squirrel_filtered),
     "squirrel without its duplicate pages", PLATONOV, MIT_CODE,
     "duplicates removed, links made undirected"},
    {"texas", NULL, "npz", YANDEX, FILES(texas),
     "web pages of a computer science department, 5 kinds",
     PEI "; from the WebKB project, Craven et al. 1998", MIT_CODE,
     "words as 0/1, links made undirected"},
    {"cornell", NULL, "npz", YANDEX, FILES(cornell),
     "web pages of a computer science department, 5 kinds",
     PEI "; from the WebKB project, Craven et al. 1998", MIT_CODE,
     "words as 0/1, links made undirected"},
    {"wisconsin", NULL, "npz", YANDEX, FILES(wisconsin),
     "web pages of a computer science department, 5 kinds",
     PEI "; from the WebKB project, Craven et al. 1998", MIT_CODE,
     "words as 0/1, links made undirected"},
    {"minesweeper", NULL, "npz", YANDEX, FILES(minesweeper),
     "fields of a 100 x 100 Minesweeper board, mine or not", PLATONOV, MIT_CODE, "synthetic"},
    {"tolokers", NULL, "npz", YANDEX, FILES(tolokers),
     "workers of a crowdsourcing platform who shared a task, banned or not", PLATONOV, MIT_CODE,
     "none"},
    {"roman-empire", NULL, "npz", YANDEX, FILES(roman_empire),
     "words of the Wikipedia article on the Roman Empire, 18 syntactic roles", PLATONOV, MIT_CODE,
     "fastText embeddings of words"},
    {"amazon-ratings", NULL, "npz", YANDEX, FILES(amazon_ratings),
     "products bought together, 5 levels of rating", PLATONOV, MIT_CODE,
     "fastText embeddings of descriptions; largest component of the 5-core"},
    {"questions", NULL, "npz", YANDEX, FILES(questions),
     "users of a question site who answered each other, active or not", PLATONOV, MIT_CODE,
     "fastText embeddings of self-descriptions"},
};
const int registry_sets = (int)(sizeof registry_table / sizeof *registry_table);
