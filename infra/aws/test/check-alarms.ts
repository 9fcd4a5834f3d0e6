import { type Fault, type Properties, resourcesOf, type Template } from './template.ts'

/** What must be noticed: a metric, from where, and what silence means. */
const ALARMS = [
  { metric: 'ApproximateNumberOfMessagesVisible', namespace: 'AWS/SQS', missing: 'notBreaching' },
  // Nothing else notices a sweeper that does not run.
  { metric: 'OldestDueAgeMs', namespace: { Ref: 'MetricsNamespace' }, missing: 'breaching' },
  { metric: 'NeedsAttention', namespace: { Ref: 'MetricsNamespace' }, missing: 'ignore' },
] as const

/** As long as the sweeper's schedule: a shorter one would see gaps. */
const PERIOD_SECONDS_MIN = 60

export function checkAlarms(template: Template): Fault[] {
  const alarms = resourcesOf(template, 'AWS::CloudWatch::Alarm')
  return [
    ...ALARMS.flatMap((wanted) => {
      const found = alarms.find(([, { Properties }]) => Properties.MetricName === wanted.metric)
      return found === undefined
        ? [fault(`nobody notices ${wanted.metric}`)]
        : alarmFaults(found[0], found[1].Properties, wanted)
    }),
    ...alarms
      .filter(([, { Properties }]) => !tellsTopic(Properties))
      .map(([name]) => fault(`${name} tells nobody`)),
  ]
}

function alarmFaults(
  name: string,
  properties: Properties,
  { metric, namespace, missing }: (typeof ALARMS)[number],
) {
  const faults: Fault[] = []
  if (!same(properties.Namespace, namespace))
    faults.push(fault(`${name} looks elsewhere than in ${namespace}`))
  if (properties.TreatMissingData !== missing) faults.push(fault(`${name} must take silence for ${missing}`))
  if (properties.Statistic !== 'Maximum') faults.push(fault(`${name} must look at the worst value`))
  if (Number(properties.Period) < PERIOD_SECONDS_MIN)
    faults.push(fault(`${name} looks more often than is told`))
  const queue = [{ Name: 'QueueName', Value: { 'Fn::GetAtt': ['DeadLetterQueue', 'QueueName'] } }]
  if (metric === 'ApproximateNumberOfMessagesVisible' && !same(properties.Dimensions, queue)) {
    faults.push(fault(`${name} is not about the dead letters`))
  }
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
