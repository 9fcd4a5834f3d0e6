import { listStatements } from './check-policies.ts'
import {
  type Fault,
  findResources,
  type Properties,
  type Resource,
  type Template,
  toList,
} from './template.ts'

/** AWS recommends this factor, so that a message does not come back while its first reader is throttled. */
const VISIBILITY_FACTOR = 6
const VISIBILITY_SECONDS_MAX = 43_200
const RECEIVES_MIN = 5
const DELAY_SECONDS_MAX = 900
/** A message is only a hint, and new ones come each minute, so old ones must not be kept much longer than needed. */
const HINT_SLACK_SECONDS = 1800
/** A person has to see the dead letters, so they are kept for as long as SQS can. */
const DEAD_SECONDS = 1_209_600

/** Checks that a slow worker loses no message, and that a message that fails too often becomes a dead letter. */
export function checkQueues(template: Template): Fault[] {
  const { DeadLetterQueue } = template.Resources
  if (DeadLetterQueue === undefined) return [toFault('queues', 'DeadLetterQueue is missing')]
  return [
    ...WORKERS.flatMap((names) => findWorkerFaults(template, names, DeadLetterQueue)),
    ...findEncryptionFaults(DeadLetterQueue),
    ...['Queue', 'SlowQueue', 'DeadLetterQueue'].flatMap((name) => findQueuePolicyFaults(template, name)),
  ]
}

interface WorkerNames {
  readonly queue: string
  readonly worker: string
  readonly source: string
  /** The parameter that bounds its environments. */
  readonly concurrency: string
}

/** Each worker takes from a queue of its own, so that calls that hang hold no environment of the other. */
const WORKERS: readonly WorkerNames[] = [
  {
    queue: 'Queue',
    worker: 'WorkerFunction',
    source: 'WorkerTakesFromQueue',
    concurrency: 'WorkerConcurrency',
  },
  {
    queue: 'SlowQueue',
    worker: 'SlowWorkerFunction',
    source: 'SlowWorkerTakesFromQueue',
    concurrency: 'SlowWorkerConcurrency',
  },
]

function findWorkerFaults(template: Template, names: WorkerNames, deadLetters: Resource): Fault[] {
  const [queue, source] = [template.Resources[names.queue], template.Resources[names.source]]
  if (queue === undefined || source === undefined)
    return [toFault('queues', `${names.queue} or ${names.source} is missing`)]
  return [
    ...findVisibilityFaults(template, queue, names),
    ...findRedriveFaults(queue),
    ...findRetentionFaults(template, queue, deadLetters),
    ...findEncryptionFaults(queue),
    ...findSourceFaults(template, source, names),
  ]
}

function findVisibilityFaults(
  { Mappings, Parameters, Resources }: Template,
  { Properties }: Resource,
  { worker }: WorkerNames,
): Fault[] {
  const lookup = { 'Fn::FindInMap': ['VisibilityTimeout', { Ref: 'WorkerTimeoutSeconds' }, 'Seconds'] }
  const isLookedUp = JSON.stringify(Properties.VisibilityTimeout) === JSON.stringify(lookup)
  const timeout = JSON.stringify(Resources[worker]?.Properties.Timeout)
  if (!isLookedUp || timeout !== JSON.stringify({ Ref: 'WorkerTimeoutSeconds' })) {
    return [toFault('visibility', "the queue's visibility timeout does not follow the worker's timeout")]
  }
  return (Parameters.WorkerTimeoutSeconds?.AllowedValues ?? ['any']).flatMap((timeoutSeconds) => {
    const seconds = Number(Mappings.VisibilityTimeout?.[String(timeoutSeconds)]?.Seconds)
    const isFit = seconds >= VISIBILITY_FACTOR * Number(timeoutSeconds) && seconds <= VISIBILITY_SECONDS_MAX
    return isFit
      ? []
      : [toFault('visibility', `a worker of ${timeoutSeconds} s has a visibility timeout of ${seconds} s`)]
  })
}

function findRedriveFaults({ Properties }: Resource): Fault[] {
  const { deadLetterTargetArn, maxReceiveCount } = (Properties.RedrivePolicy ?? {}) as Properties
  const isThere =
    JSON.stringify(deadLetterTargetArn) === JSON.stringify({ 'Fn::GetAtt': ['DeadLetterQueue', 'Arn'] })
  return isThere && Number(maxReceiveCount) >= RECEIVES_MIN
    ? []
    : [
        toFault(
          'dead-letters',
          `a message is given up after fewer than ${RECEIVES_MIN} receives, or is not kept`,
        ),
      ]
}

function findRetentionFaults({ Mappings, Parameters }: Template, queue: Resource, dead: Resource): Fault[] {
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
  return isFit ? [] : [toFault('retention', 'messages pile up, or dead letters are dropped too early')]
}

function findEncryptionFaults({ Properties }: Resource): Fault[] {
  const isEncrypted =
    JSON.stringify(Properties.SqsManagedSseEnabled) ===
      JSON.stringify({ 'Fn::If': ['HasQueueKey', false, true] }) && Properties.KmsMasterKeyId !== undefined
  return isEncrypted
    ? []
    : [toFault('encryption', `a queue is not encrypted: ${JSON.stringify(Properties.QueueName)}`)]
}

function findSourceFaults(
  { Mappings, Parameters, Resources }: Template,
  { Properties }: Resource,
  { queue, worker, concurrency }: WorkerNames,
): Fault[] {
  const faults: Fault[] = []
  const [from, to] = [queue, worker].map((name) => JSON.stringify({ 'Fn::GetAtt': [name, 'Arn'] }))
  if (JSON.stringify(Properties.EventSourceArn) !== from || JSON.stringify(Properties.FunctionName) !== to)
    faults.push(toFault('sources', `${worker} does not take from ${queue}`))
  if (!toList(Properties.FunctionResponseTypes).includes('ReportBatchItemFailures')) {
    faults.push(toFault('batches', 'one message that fails brings back the whole batch'))
  }
  const { MaximumConcurrency } = (Properties.ScalingConfig ?? {}) as Properties
  const reserved = Resources[worker]?.Properties.ReservedConcurrentExecutions
  const bound = JSON.stringify({ Ref: concurrency })
  if (JSON.stringify(MaximumConcurrency) !== bound || JSON.stringify(reserved) !== bound) {
    faults.push(toFault('batches', 'the queue may start more workers than are allowed'))
  }
  for (const size of Parameters.WorkerBatchSize?.AllowedValues ?? ['any']) {
    const seconds = Number(Mappings.BatchingWindow?.[String(size)]?.Seconds)
    const isFit = Number(size) > 10 ? seconds === 1 : seconds === 0
    if (!isFit) faults.push(toFault('batches', `a batch of ${size} has a window of ${seconds} s`))
  }
  return faults
}

/** Checks that a queue's policy only denies, since the roles say who may use the queue. */
function findQueuePolicyFaults(template: Template, queue: string): Fault[] {
  const policies = findResources(template, 'AWS::SQS::QueuePolicy').filter(
    ([, { Properties }]) => JSON.stringify(Properties.Queues) === JSON.stringify([{ Ref: queue }]),
  )
  const all = policies.flatMap(([, { Properties }]) => listStatements(Properties.PolicyDocument))
  const arn = JSON.stringify({ 'Fn::GetAtt': [queue, 'Arn'] })
  const faults = all
    .filter(({ Effect, Resource }) => Effect !== 'Deny' || JSON.stringify(Resource) !== arn)
    .map(({ Sid }) =>
      toFault('queue-policy', `${Sid} allows something, or is about another queue than ${queue}`),
    )
  const wildcards = all.filter(({ Action }) => JSON.stringify(Action).includes('*'))
  if (wildcards.length > 0) faults.push(toFault('queue-policy', `${queue}: a * in an action`))
  if (!all.some(({ Condition }) => Condition?.Bool?.['aws:SecureTransport'] === 'false')) {
    faults.push(toFault('queue-policy', `${queue} takes messages without TLS`))
  }
  return faults
}

function toFault(rule: string, detail: string): Fault {
  return { rule, detail }
}
