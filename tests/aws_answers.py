"""What AWS says of resources once they are there: a rehearsal does not know it, and permissions are made of it."""

from typing import Any

from pulumi.runtime.mocks import MockCallArgs, MockResourceArgs, Mocks

ACCOUNT = "123456789012"
ARN = f"arn:aws:eks:us-east-2:{ACCOUNT}:cluster/atlas"


class Answers(Mocks):
    """Outputs are inputs, and what AWS adds to them."""

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[Any, Any]]:
        if not args.typ.startswith("aws:"):
            return f"{args.name}-id", args.inputs
        service, _, kind = args.typ.removeprefix("aws:").replace("/", ":").partition(":")
        region = "" if service == "iam" else "us-east-2"
        known: dict[str, Any] = {
            "arn": f"arn:aws:{service}:{region}:{ACCOUNT}:{kind.rpartition(':')[2].lower()}/{args.name}",
            "name": args.name,
            "keyId": args.name,
            "url": f"https://sqs.us-east-2.amazonaws.com/{ACCOUNT}/{args.name}",
        }
        if args.typ == "aws:s3/bucket:Bucket":
            known |= {"bucket": args.name, "arn": f"arn:aws:s3:::{args.name}"}
        if args.typ == "aws:fsx/lustreFileSystem:LustreFileSystem":
            known |= {"dnsName": f"{args.name}.fsx.us-east-2.amazonaws.com", "mountName": "a1b2c3d4"}
        if args.typ == "aws:eks/nodeGroup:NodeGroup":
            known["resources"] = [{"autoscalingGroups": [{"name": f"eks-{args.name}"}]}]
        if args.typ == "aws:eks/cluster:Cluster":
            authority = {"data": "Y2VydGlmaWNhdGU="}
            network = {**args.inputs["vpcConfig"], "clusterSecurityGroupId": "sg-1"}
            known |= {"arn": ARN, "endpoint": "https://x", "certificateAuthority": authority}
            return args.inputs["name"], {**known, **args.inputs, "vpcConfig": network}
        return f"{args.name}-id", {**known, **args.inputs}

    def call(self, args: MockCallArgs) -> tuple[dict[Any, Any], list[tuple[str, str]] | None]:
        raise AssertionError(f"{args.token}: nothing is asked while the program runs")
