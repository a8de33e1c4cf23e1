package v1beta1

// QueueAllocationGateKey is the annotation that release 1.15 of this module adds.
const QueueAllocationGateKey = GroupName + "/queue-allocation-gate"
