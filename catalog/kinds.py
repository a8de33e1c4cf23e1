"""What the catalogue holds: the kinds of its entries, as frozen values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True, slots=True)
class MigProfile:
    """A kind of instance that a GPU can be cut into.

    Attributes:
        name: The profile's name, such as `1g.10gb`.
        compute: Slices of the GPU's multiprocessors that it takes.
        memory: Slices of the GPU's memory that it takes.
        starts: The memory slices at which it may begin.
        media: Whether it takes the GPU's one set of media engines.
    """

    name: str
    compute: int
    memory: int
    starts: tuple[int, ...]
    media: bool = False


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU model.

    Attributes:
        name: The name in documents, such as `h100-sxm-80gb`.
        product: Value of the node label `nvidia.com/gpu.product` that GPU feature discovery writes.
        memory: Device memory as the driver reports it, as a Kubernetes quantity in whole Mi.
        compute: CUDA's compute capability: major and minor.
        source: Where these facts were read.
        mig: Its MIG profiles by name; empty where it cannot be cut.
        architecture: That of the CPU on the same module, as in the label `kubernetes.io/arch`; None where it is a card.
    """

    name: str
    product: str
    memory: str
    compute: tuple[int, int]
    source: str
    mig: Mapping[str, MigProfile] = field(default_factory=dict)
    architecture: Literal["amd64", "arm64"] | None = None


@dataclass(frozen=True, slots=True)
class Nic:
    """A NIC that carries RDMA.

    Attributes:
        name: The name in documents, such as `connectx-7`.
        vendor: PCI vendor id, in hex.
        devices: PCI device ids, in hex.
        driver: Its kernel driver.
        links: What its ports can be set to: infiniband, ether, efa.
        source: Where these facts were read.
        virtual: PCI device id of its virtual functions; None where it has none of its own.
    """

    name: str
    vendor: str
    devices: tuple[str, ...]
    driver: str
    links: tuple[str, ...]
    source: str
    virtual: str | None = None


@dataclass(frozen=True, slots=True)
class Fabric:
    """A kind of network between nodes.

    Attributes:
        name: The name in documents, such as `infiniband`.
        families: Prefixes of the variables of NCCL and its plugins that have an effect on it.
        source: Where these facts were read.
        link: What the ports of its NICs are set to; None for plain TCP.
        modes: How pods may get at the NICs, the usual one first; empty where there is one way only.
        net: What NCCL calls the network (NCCL_NET); None where NCCL or its plugin finds the name.
    """

    name: str
    families: tuple[str, ...]
    source: str
    link: str | None = None
    modes: tuple[str, ...] = ()
    net: str | None = None


@dataclass(frozen=True, slots=True)
class Nics:
    """NICs of a server.

    Attributes:
        model: Name of their model.
        count: Ports, each of which is a device of its own.
    """

    model: str
    count: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server with GPUs.

    Attributes:
        name: The name in documents, such as `dgx-h100`.
        gpu: Name of its GPU model.
        gpus: GPUs per server.
        cpu: Logical cores, as the kubelet counts them.
        memory: Installed memory as a Kubernetes quantity.
        source: Where these facts were read.
        board: Whether it is a board (HGX) that makers build different servers around: cores and memory are then those
            of one published server.
        architecture: As in the label `kubernetes.io/arch`.
        nics: The NICs of its compute fabric; None for a board.
        others: Further ports of RDMA NICs, for storage and management.
        disks: NVMe disks for data; none for a board.
        disk: Size of one of them as a Kubernetes quantity; None without.
    """

    name: str
    gpu: str
    gpus: int
    cpu: int
    memory: str
    source: str
    board: bool = False
    architecture: Literal["amd64", "arm64"] = "amd64"
    nics: Nics | None = None
    others: Nics | None = None
    disks: int = 0
    disk: str | None = None


@dataclass(frozen=True, slots=True)
class Card:
    """A network card of an instance type.

    Attributes:
        interfaces: Network interfaces that it takes at most.
        efa: Whether it carries EFA.
    """

    interfaces: int
    efa: bool = False


@dataclass(frozen=True, slots=True)
class Instance:
    """An instance type of Amazon EC2.

    Attributes:
        name: The name in documents, such as `p5en.48xlarge`.
        cpu: Logical cores.
        memory: Memory of the machine as a Kubernetes quantity.
        cards: Its network cards, by number.
        gpu: Name of its GPU model; None without GPUs.
        gpus: GPUs.
        disks: Local NVMe disks.
        disk: Size of one of them as a Kubernetes quantity; None without.
        blocks: Whether it is sold in capacity blocks.
        architecture: As in the label `kubernetes.io/arch`.
    """

    name: str
    cpu: int
    memory: str
    cards: tuple[Card, ...]
    gpu: str | None = None
    gpus: int = 0
    disks: int = 0
    disk: str | None = None
    blocks: bool = False
    architecture: Literal["amd64", "arm64"] = "amd64"

    @property
    def family(self) -> str:
        """Its family, such as `p5en`."""
        return self.name.partition(".")[0]

    @property
    def efa(self) -> int:
        """EFA devices that it takes: one per card that carries EFA."""
        return sum(card.efa for card in self.cards)


Part = Literal["driver", "toolkit", "fabric-manager", "device-plugin", "efa-plugin"]
"""What an image can bring for GPUs and their network."""


@dataclass(frozen=True, slots=True)
class Image:
    """A family of operating system images of nodes.

    Attributes:
        name: The name in documents, such as `dgx-os`.
        title: What it is, for people.
        brings: What it brings for GPUs.
        operator_driver: Whether the GPU Operator has a driver for it.
        source: Where these facts were read.
        servers: The only servers that it is made for; none where it runs on any.
        ec2: Whether it is made for Amazon EC2 only.
        ami: What EKS calls it in node groups, by architecture; empty where it makes none with it.
        sharing: The sharing plans, by their keys in documents, that its own device plugin can be set to.
    """

    name: str
    title: str
    brings: tuple[Part, ...]
    operator_driver: bool
    source: str
    servers: tuple[str, ...] = ()
    ec2: bool = False
    ami: Mapping[str, str] = field(default_factory=dict)
    sharing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Levels:
    """Variables of NCCL that hold a distance between a GPU and another device.

    Attributes:
        names: The variables.
        words: Distances, the closest first.
        numbers: What the old numbers from 0 on mean.
    """

    names: tuple[str, ...]
    words: tuple[str, ...]
    numbers: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Nccl:
    """The variables of NCCL.

    Attributes:
        version: The version that was read.
        source: Where they were read.
        ranges: Numbers by name, with the lowest and the highest that mean something.
        switches: Numbers that are 0 or 1.
        automatic: Negative defaults of numbers of both kinds, by which NCCL chooses itself.
        numbers: Other numbers.
        words: Variables that hold one of some words.
        lists: Variables that hold a list of prefixes of device names.
        levels: Variables that hold a distance.
        algorithms: What NCCL_ALGO may name.
        protocols: What NCCL_PROTO may name.
        collectives: What both may be given for.
        texts: Variables that hold any text.
        plugins: Prefixes of variables that plugins read.
        gone: Variables that nothing reads any more, and what there is instead.
        renamed: Variables of PyTorch under their old names, with those of today.
    """

    version: str
    source: str
    ranges: Mapping[str, tuple[int, int]]
    switches: tuple[str, ...]
    automatic: Mapping[str, int]
    numbers: tuple[str, ...]
    words: Mapping[str, tuple[str, ...]]
    lists: tuple[str, ...]
    levels: Levels
    algorithms: tuple[str, ...]
    protocols: tuple[str, ...]
    collectives: tuple[str, ...]
    texts: tuple[str, ...]
    plugins: tuple[str, ...]
    gone: Mapping[str, str]
    renamed: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Release:
    """An upstream product at an exact version.

    Attributes:
        name: The name in documents, such as `volcano`.
        version: Exact version, without a leading `v`.
        chart: Name of its Helm chart; none where only its images are used.
        repository: Chart repository (https://) or the chart's OCI reference (oci://); none without a chart.
        images: Images by role; `{version}` stands for the version that is installed.
        crds: Names of the custom resource definitions that it brings, checked against its source when it is installed.
        without: Charts inside its chart that are switched off, with the definitions that they bring.
        partial: Whether its source holds more definitions, which are left alone.
        sha256: Checksum of the chart's archive in that repository, where it was published apart from the archive.
        newest_kubernetes: Newest minor of Kubernetes 1 that it is made for, where its makers say so.
        oldest: Oldest version that has what this project relies on; None where nothing newer is needed.
        needs: What that is, and where it was read.
        source: Where version and repository were read.
        by_kubernetes: Exact versions by minor of Kubernetes, such as "1.35", where each is made for one minor.
    """

    name: str
    version: str
    chart: str = ""
    repository: str = ""
    images: Mapping[str, str] = field(default_factory=dict)
    crds: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    partial: bool = False
    sha256: str | None = None
    newest_kubernetes: int | None = None
    oldest: str | None = None
    needs: str = ""
    source: str = ""
    by_kubernetes: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Addon:
    """An add-on of Amazon EKS.

    Attributes:
        name: The name in EKS and in documents, such as `vpc-cni`.
        versions: Exact version by minor of Kubernetes, such as "1.35".
        source: Where these facts were read.
        account: The service account, in kube-system, whose pods need permissions in AWS; None where none do.
    """

    name: str
    versions: Mapping[str, str]
    source: str
    account: str | None = None
