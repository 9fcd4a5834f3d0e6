import { GAUGES } from '../../../functions/src/gauges.ts'
import { type Fault, findResources, type Properties, type Template } from './template.ts'

const OWN = { Ref: 'MetricsNamespace' }

/** The alarms that must exist: a metric, its source, and the meaning of silence. */
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
    metric: 'Errors',
    namespace: 'AWS/Lambda',
    of: { Name: 'FunctionName', Value: { Ref: 'WorkerFunction' } },
    missing: 'notBreaching',
  },
  // Nothing else notices a sweeper that does not run.
  { metric: 'OldestDueAgeMs', namespace: OWN, of: undefined, missing: 'breaching' },
  { metric: 'NeedsAttention', namespace: OWN, of: undefined, missing: 'ignore' },
] as const

/** The sweeper tells each minute: a shorter period would see gaps. */
const PERIOD_SECONDS_MIN = 60

export function checkAlarms(template: Template): Fault[] {
  const alarms = findResources(template, 'AWS::CloudWatch::Alarm')
  return [
    ...ALARMS.flatMap((wanted) => {
      const found = alarms.find(([, { Properties }]) => Properties.MetricName === wanted.metric)
      return found === undefined
        ? [fault(`nobody notices ${wanted.metric}`)]
        : alarmFaults(found[0], found[1].Properties, wanted)
    }),
    ...alarms
      .filter(
        ([, { Properties }]) => same(Properties.Namespace, OWN) && !(String(Properties.MetricName) in GAUGES),
      )
      .map(([name]) => fault(`${name} is about a gauge that the sweeper does not publish`)),
    ...alarms
      .filter(([, { Properties }]) => !tellsTopic(Properties))
      .map(([name]) => fault(`${name} tells nobody`)),
  ]
}

function alarmFaults(
  name: string,
  properties: Properties,
  { namespace, of, missing }: (typeof ALARMS)[number],
) {
  const faults: Fault[] = []
  if (!same(properties.Namespace, namespace) || !same(properties.Dimensions, of && [of])) {
    faults.push(fault(`${name} looks elsewhere than at ${JSON.stringify(of ?? namespace)}`))
  }
  if (properties.TreatMissingData !== missing) faults.push(fault(`${name} must take silence for ${missing}`))
  if (!['Maximum', 'Sum'].includes(String(properties.Statistic))) {
    faults.push(fault(`${name} must look at the worst value`))
  }
  if (Number(properties.Period) < PERIOD_SECONDS_MIN)
    faults.push(fault(`${name} looks more often than is told`))
  return faults
}

function tellsTopic({ AlarmActions }: Properties): boolean {
  return same(AlarmActions, {
    'Fn::If': ['HasAlarmTopic', [{ Ref: 'AlarmTopicArn' }], { Ref: 'AWS::NoValue' }],
  })
}

function same(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right)
}

function fault(detail: string): Fault {
  return { rule: 'alarms', detail }
}
