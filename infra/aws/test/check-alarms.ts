import { GAUGES } from '../../../functions/src/gauges.ts'
import { type Fault, findResources, type Properties, type Template } from './template.ts'

const OWN = { Ref: 'MetricsNamespace' }

/** These alarms must exist. Each has a metric, its source, and the meaning of missing values. */
const ALARMS = [
  {
    metric: 'ApproximateNumberOfMessagesVisible',
    namespace: 'AWS/SQS',
    of: { Name: 'QueueName', Value: { 'Fn::GetAtt': ['DeadLetterQueue', 'QueueName'] } },
    missing: 'notBreaching',
  },
  {
    metric: 'ApproximateAgeOfOldestMessage',
    namespace: 'AWS/SQS',
    of: { Name: 'QueueName', Value: { 'Fn::GetAtt': ['Queue', 'QueueName'] } },
    missing: 'notBreaching',
  },
  {
    metric: 'ApproximateAgeOfOldestMessage',
    namespace: 'AWS/SQS',
    of: { Name: 'QueueName', Value: { 'Fn::GetAtt': ['SlowQueue', 'QueueName'] } },
    missing: 'notBreaching',
  },
  {
    metric: 'Errors',
    namespace: 'AWS/Lambda',
    of: { Name: 'FunctionName', Value: { Ref: 'WorkerFunction' } },
    missing: 'notBreaching',
  },
  {
    metric: 'Errors',
    namespace: 'AWS/Lambda',
    of: { Name: 'FunctionName', Value: { Ref: 'SlowWorkerFunction' } },
    missing: 'notBreaching',
  },
  // Only this alarm shows that the sweeper purges nothing.
  {
    metric: 'Errors',
    namespace: 'AWS/Lambda',
    of: { Name: 'FunctionName', Value: { Ref: 'SweeperFunction' } },
    missing: 'notBreaching',
  },
  // Only this alarm shows that the sweeper does not run.
  { metric: 'OldestDueAgeMs', namespace: OWN, of: undefined, missing: 'breaching' },
  { metric: 'NeedsAttention', namespace: OWN, of: undefined, missing: 'ignore' },
] as const

/** The sweeper reports each minute, so a shorter period would have gaps. */
const PERIOD_SECONDS_MIN = 60

export function checkAlarms(template: Template): Fault[] {
  const alarms = findResources(template, 'AWS::CloudWatch::Alarm')
  return [
    ...ALARMS.flatMap((wanted) => {
      const ofMetric = alarms.filter(([, { Properties }]) => Properties.MetricName === wanted.metric)
      const found = ofMetric.find(([, { Properties }]) =>
        isSame(Properties.Dimensions, wanted.of && [wanted.of]),
      )
      return found === undefined
        ? [toFault(`no alarm watches ${wanted.metric} of ${JSON.stringify(wanted.of ?? wanted.namespace)}`)]
        : findAlarmFaults(found[0], found[1].Properties, wanted)
    }),
    ...alarms
      .filter(
        ([, { Properties }]) =>
          isSame(Properties.Namespace, OWN) && !(String(Properties.MetricName) in GAUGES),
      )
      .map(([name]) => toFault(`${name} is about a gauge that the sweeper does not publish`)),
    ...alarms
      .filter(([, { Properties }]) => !tellsTopic(Properties))
      .map(([name]) => toFault(`${name} is sent to no topic`)),
  ]
}

function findAlarmFaults(
  name: string,
  properties: Properties,
  { namespace, missing }: (typeof ALARMS)[number],
) {
  const faults: Fault[] = []
  if (!isSame(properties.Namespace, namespace))
    faults.push(toFault(`${name} does not watch ${JSON.stringify(namespace)}`))
  if (properties.TreatMissingData !== missing)
    faults.push(toFault(`${name} must count missing values as ${missing}`))
  if (!['Maximum', 'Sum'].includes(String(properties.Statistic))) {
    faults.push(toFault(`${name} must watch the worst value`))
  }
  if (Number(properties.Period) < PERIOD_SECONDS_MIN)
    faults.push(toFault(`${name} has a shorter period than the sweeper's reports`))
  return faults
}

function tellsTopic({ AlarmActions }: Properties): boolean {
  return isSame(AlarmActions, {
    'Fn::If': ['HasAlarmTopic', [{ Ref: 'AlarmTopicArn' }], { Ref: 'AWS::NoValue' }],
  })
}

function isSame(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function toFault(detail: string): Fault {
  return { rule: 'alarms', detail }
}
