import { statements } from './check-policies.ts'
import {
  type Fault,
  findResources,
  type Properties,
  type Resource,
  type Template,
  toList,
} from './template.ts'

/** AWS asks for it, so that a message does not come back while its first reader is throttled. */
const VISIBILITY_FACTOR = 6
const VISIBILITY_SECONDS_MAX = 43_200
const RECEIVES_MIN = 5
const DELAY_SECONDS_MAX = 900
/** A message is a hint, and new ones come each minute: old ones only pile up. */
const HINT_SLACK_SECONDS = 1800
/** SQS keeps no message longer, and a person has to see these. */
const DEAD_SECONDS = 1_209_600

/** The queue bears with slow workers, and what it gives up is noticed. */
export function checkQueues(template: Template): Fault[] {
  const { Queue, DeadLetterQueue, WorkerTakesFromQueue } = template.Resources
  if (Queue === undefined || DeadLetterQueue === undefined || WorkerTakesFromQueue === undefined) {
    return [fault('queues', 'Queue, DeadLetterQueue or WorkerTakesFromQueue is missing')]
  }
  return [
    ...visibilityFaults(template, Queue),
    ...redriveFaults(Queue),
    ...retentionFaults(template, Queue, DeadLetterQueue),
    ...[Queue, DeadLetterQueue].flatMap(encryptionFaults),
    ...sourceFaults(template, WorkerTakesFromQueue),
    ...['Queue', 'DeadLetterQueue'].flatMap((name) => queuePolicyFaults(template, name)),
  ]
}

function visibilityFaults({ Mappings, Parameters, Resources }: Template, { Properties }: Resource): Fault[] {
  const lookup = { 'Fn::FindInMap': ['VisibilityTimeout', { Ref: 'WorkerTimeoutSeconds' }, 'Seconds'] }
  const isLookedUp = JSON.stringify(Properties.VisibilityTimeout) === JSON.stringify(lookup)
  const timeout = JSON.stringify(Resources.WorkerFunction?.Properties.Timeout)
  if (!isLookedUp || timeout !== JSON.stringify({ Ref: 'WorkerTimeoutSeconds' })) {
    return [fault('visibility', "the queue's visibility timeout does not follow the worker's timeout")]
  }
  return (Parameters.WorkerTimeoutSeconds?.AllowedValues ?? ['any']).flatMap((timeoutSeconds) => {
    const seconds = Number(Mappings.VisibilityTimeout?.[String(timeoutSeconds)]?.Seconds)
    const isFit = seconds >= VISIBILITY_FACTOR * Number(timeoutSeconds) && seconds <= VISIBILITY_SECONDS_MAX
    return isFit
      ? []
      : [fault('visibility', `a worker of ${timeoutSeconds} s has a visibility timeout of ${seconds} s`)]
  })
}

function redriveFaults({ Properties }: Resource): Fault[] {
  const { deadLetterTargetArn, maxReceiveCount } = (Properties.RedrivePolicy ?? {}) as Properties
  const isThere =
    JSON.stringify(deadLetterTargetArn) === JSON.stringify({ 'Fn::GetAtt': ['DeadLetterQueue', 'Arn'] })
  return isThere && Number(maxReceiveCount) >= RECEIVES_MIN
    ? []
    : [fault('dead-letters', `what failed less than ${RECEIVES_MIN} times is given up, or nowhere kept`)]
}

function retentionFaults({ Mappings, Parameters }: Template, queue: Resource, dead: Resource): Fault[] {
  const lookup = { 'Fn::FindInMap': ['HintRetention', { Ref: 'WorkerTimeoutSeconds' }, 'Seconds'] }
  const areFit = (Parameters.WorkerTimeoutSeconds?.AllowedValues ?? []).every((timeout) => {
    const visible = Number(Mappings.VisibilityTimeout?.[String(timeout)]?.Seconds)
    const needed = RECEIVES_MIN * visible + DELAY_SECONDS_MAX
    const kept = Number(Mappings.HintRetention?.[String(timeout)]?.Seconds)
    return Number.isNaN(needed) || (kept > needed && kept <= needed + HINT_SLACK_SECONDS)
  })
  const isFit =
    areFit &&
    JSON.stringify(queue.Properties.MessageRetentionPeriod) === JSON.stringify(lookup) &&
    Number(dead.Properties.MessageRetentionPeriod) === DEAD_SECONDS
  return isFit ? [] : [fault('retention', 'hints pile up, or dead letters vanish unseen')]
}

function encryptionFaults({ Properties }: Resource): Fault[] {
  const isEncrypted =
    JSON.stringify(Properties.SqsManagedSseEnabled) ===
      JSON.stringify({ 'Fn::If': ['HasQueueKey', false, true] }) && Properties.KmsMasterKeyId !== undefined
  return isEncrypted
    ? []
    : [fault('encryption', `a queue is not encrypted: ${JSON.stringify(Properties.QueueName)}`)]
}

function sourceFaults({ Mappings, Parameters }: Template, { Properties }: Resource): Fault[] {
  const faults: Fault[] = []
  if (!toList(Properties.FunctionResponseTypes).includes('ReportBatchItemFailures')) {
    faults.push(fault('batches', 'one message that fails brings back the whole batch'))
  }
  const { MaximumConcurrency } = (Properties.ScalingConfig ?? {}) as Properties
  if (JSON.stringify(MaximumConcurrency) !== JSON.stringify({ Ref: 'WorkerConcurrency' })) {
    faults.push(fault('batches', 'the queue may start more workers than there may be'))
  }
  for (const size of Parameters.WorkerBatchSize?.AllowedValues ?? ['any']) {
    const seconds = Number(Mappings.BatchingWindow?.[String(size)]?.Seconds)
    const isFit = Number(size) > 10 ? seconds === 1 : seconds === 0
    if (!isFit) faults.push(fault('batches', `a batch of ${size} has a window of ${seconds} s`))
  }
  return faults
}

/** A queue's policy only refuses; the roles say who may use it. */
function queuePolicyFaults(template: Template, queue: string): Fault[] {
  const policies = findResources(template, 'AWS::SQS::QueuePolicy').filter(
    ([, { Properties }]) => JSON.stringify(Properties.Queues) === JSON.stringify([{ Ref: queue }]),
  )
  const all = policies.flatMap(([, { Properties }]) => statements(Properties.PolicyDocument))
  const arn = JSON.stringify({ 'Fn::GetAtt': [queue, 'Arn'] })
  const faults = all
    .filter(({ Effect, Resource }) => Effect !== 'Deny' || JSON.stringify(Resource) !== arn)
    .map(({ Sid }) =>
      fault('queue-policy', `${Sid} lets somebody in, or is about another queue than ${queue}`),
    )
  const wildcards = all.filter(({ Action }) => JSON.stringify(Action).includes('*'))
  if (wildcards.length > 0) faults.push(fault('queue-policy', `${queue}: a * in an action`))
  if (!all.some(({ Condition }) => Condition?.Bool?.['aws:SecureTransport'] === 'false')) {
    faults.push(fault('queue-policy', `${queue} takes messages without TLS`))
  }
  return faults
}

function fault(rule: string, detail: string): Fault {
  return { rule, detail }
}
