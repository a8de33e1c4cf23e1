"""`destroy`: takes down what `up` made, and says what stays."""

from . import environments
from .output import console
from .upping import InTwin, Yes, place_of, require_consent


def destroy(environment: environments.Name = "twin", twin: InTwin = False, yes: Yes = False) -> None:
    """Take down what `up` made: workloads, queues, operators, in this order.

    What holds people's work stays: custom resource definitions with their objects, the scheduler's own queues.
    The next `up` adopts them again.
    """
    from . import rendering

    place = place_of(environment, rendering.load(environment), twin=twin)
    if not place.of_twin:
        require_consent("destroy", yes)
    place.run("destroy", *(["--yes", "--skip-preview"] if place.of_twin else ["--yes"] if yes else []))
    console.print(
        "Custom resource definitions with their objects, and the scheduler's own queues, stay: work lives there."
    )
    if place.of_twin:
        console.print("The twin's control plane still runs: ./gangline twin stop ends it.")
