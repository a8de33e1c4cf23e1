"""Laws about file systems of FSx for Lustre."""

from policies.aws.reading import told
from policies.fields import Field
from policies.rules import Report, ResourceRule, Severity, rule


@rule(
    ResourceRule,
    types=("aws:fsx/lustreFileSystem:LustreFileSystem",),
    id="lustre-size",
    severity=Severity.MEDIUM,
    what="A Lustre file system has a type, a size and a speed that AWS makes together.",
    why=(
        "AWS refuses the others when it is created, or makes one without EFA and without a word; a speed that does not "
        "fit can be changed later only by copying everything."
    ),
    fix="Take a size and a speed of the ones that are allowed; `storage.shared` of the document finds them for you.",
    link="https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystemLustreConfiguration.html",
)
def lustre_size(system: Field, report: Report) -> None:
    """Judge it by the model's rules about Lustre of documents."""
    disk = (system["storageType"].text() or "SSD").lower()
    deployment = (system["deploymentType"].text() or "SCRATCH_1").lower().replace("_", "-")
    if disk not in ("ssd", "hdd"):
        return  # Intelligent-Tiering has neither a size nor a speed of its own
    size, speed = system["storageCapacity"], system["perUnitStorageThroughput"]
    gib = size.whole()
    if gib is None:
        return  # made from a backup, with its size
    # Not at the top: the model behind it would double the time that the pack needs to start.
    from model.aws import lustre
    from model.quantities import Quantity, QuantityError
    from model.storage.shared import Lustre

    try:
        amount = Quantity.parse(f"{gib}Gi")
    except QuantityError as error:
        report.violation(size, str(error))
        return
    metadata = system["metadataConfiguration"]
    places = {
        "deployment": system["deploymentType"],
        "disk": system["storageType"],
        "efa": system["efaEnabled"],
        "metadata": metadata["iops"],
        "size": size,
        "throughput": speed,
    }
    declared = Lustre.model_construct(
        kind="lustre",
        deployment=deployment,
        disk=disk,
        efa=bool(system["efaEnabled"].boolean()),
        metadata=metadata["iops"].whole(),
        size=amount,
        throughput=speed.whole(),
    )
    for problem in lustre.faults(declared):
        report.violation(places[str(problem.path[-1])], told(problem))


RULES = (lustre_size,)
