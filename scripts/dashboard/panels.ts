/** One line, or one set of lines, of a panel. */
export interface Query {
  readonly expr: string
  /** Names each line: a text with labels in braces, such as `{{kind}}`. */
  readonly legend: string
}

export interface Panel {
  readonly title: string
  readonly description?: string
  readonly type: 'stat' | 'timeseries'
  /** These are Grafana's names of units. */
  readonly unit: 'short' | 's' | 'ops' | 'percentunit' | 'bytes'
  readonly queries: readonly Query[]
  /** From this value on a stat is red. Below 1 for one that should not be 0. */
  readonly redFrom?: number
  readonly redBelow?: number
}

export interface Row {
  readonly title: string
  readonly panels: readonly Panel[]
}

/** This picks the servers that the dashboard's variable names. */
const OURS = 'job=~"$job"'
const RATE = '[$__rate_interval]'

/** Builds a rate per second of a counter, added up by these labels. */
function rate(counter: string, by: string, where = OURS): string {
  return `sum by (${by}) (rate(${counter}{${where}}${RATE}))`
}

function quantile(share: number, histogram: string, by = '', where = OURS): string {
  const labels = by === '' ? 'le' : `le, ${by}`
  return `histogram_quantile(${share}, ${rate(`${histogram}_bucket`, labels, where)})`
}

/** Figures of the store are the same on all nodes, so the greatest is taken. */
const ofStore = (gauge: string) => `max(${gauge}{${OURS}})`

const NOW: Row = {
  title: 'Now',
  panels: [
    {
      title: 'Servers ready',
      type: 'stat',
      unit: 'short',
      queries: [{ expr: `sum(counterstep_ready{${OURS}})`, legend: 'ready' }],
      redBelow: 1,
    },
    {
      title: 'Unfinished',
      type: 'stat',
      unit: 'short',
      queries: [
        { expr: `sum(max by (status) (counterstep_store_unfinished{${OURS}}))`, legend: 'unfinished' },
      ],
    },
    {
      title: 'Need a person',
      description: 'The guide docs/guides/operate.md begins here.',
      type: 'stat',
      unit: 'short',
      queries: [{ expr: ofStore('counterstep_store_attention'), legend: 'attention' }],
      redFrom: 1,
    },
    {
      title: 'Oldest due',
      description: 'How late the oldest due transaction is. Above a minute no server takes what is due.',
      type: 'stat',
      unit: 's',
      queries: [{ expr: ofStore('counterstep_store_oldest_due_age_seconds'), legend: 'late' }],
      redFrom: 60,
    },
  ],
}

const TRANSACTIONS: Row = {
  title: 'Transactions',
  panels: [
    {
      title: 'Accepted and refused',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        { expr: rate('counterstep_transactions_accepted_total', 'kind'), legend: '{{kind}}' },
        { expr: rate('counterstep_transactions_refused_total', 'code'), legend: '{{code}}' },
      ],
    },
    {
      title: 'Ended',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        { expr: rate('counterstep_transaction_duration_seconds_count', 'status'), legend: '{{status}}' },
      ],
    },
    {
      title: 'Time from accept to end',
      type: 'timeseries',
      unit: 's',
      queries: [
        { expr: quantile(0.5, 'counterstep_transaction_duration_seconds'), legend: 'half are faster' },
        { expr: quantile(0.99, 'counterstep_transaction_duration_seconds'), legend: '99 % are faster' },
      ],
    },
    {
      title: 'Unfinished by status',
      type: 'timeseries',
      unit: 'short',
      queries: [
        { expr: `max by (status) (counterstep_store_unfinished{${OURS}})`, legend: '{{status}}' },
        { expr: `sum(counterstep_transactions_in_flight{${OURS}})`, legend: 'in memory' },
      ],
    },
  ],
}

const SERVICES: Row = {
  title: 'Services',
  panels: [
    {
      title: 'Calls by service and result',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        {
          expr: rate('counterstep_service_calls_total', 'service, result'),
          legend: '{{service}} {{result}}',
        },
      ],
    },
    {
      title: 'Share of calls that came to nothing',
      description: 'A timeout, a reset, a 5xx: the call is made again.',
      type: 'timeseries',
      unit: 'percentunit',
      queries: [
        {
          expr: `${rate('counterstep_service_calls_total', 'service', `${OURS}, result="unknown"`)} / ${rate('counterstep_service_calls_total', 'service')}`,
          legend: '{{service}}',
        },
      ],
    },
    {
      title: 'Time of a call, 99 % are faster',
      type: 'timeseries',
      unit: 's',
      queries: [{ expr: quantile(0.99, 'counterstep_branch_call_duration_seconds', 'op'), legend: '{{op}}' }],
    },
    {
      title: 'Targets that have all their places',
      type: 'timeseries',
      unit: 'short',
      queries: [
        { expr: `max by (instance) (counterstep_targets_at_share{${OURS}})`, legend: '{{instance}}' },
      ],
    },
  ],
}

const STORE: Row = {
  title: 'Store',
  panels: [
    {
      title: 'Calls of the store',
      type: 'timeseries',
      unit: 'ops',
      queries: [{ expr: rate('counterstep_store_call_duration_seconds_count', 'verb'), legend: '{{verb}}' }],
    },
    {
      title: 'Time of a write, 99 % are faster',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: quantile(
            0.99,
            'counterstep_store_call_duration_seconds',
            'verb',
            `${OURS}, verb=~"create|update"`,
          ),
          legend: '{{verb}}',
        },
      ],
    },
    {
      title: 'Outcomes of calls of the store',
      type: 'timeseries',
      unit: 'ops',
      queries: [
        { expr: rate('counterstep_store_call_duration_seconds_count', 'outcome'), legend: '{{outcome}}' },
        { expr: `sum(rate(counterstep_transactions_claimed_total{${OURS}}${RATE}))`, legend: 'taken over' },
      ],
    },
    {
      title: 'Events in the log',
      type: 'timeseries',
      unit: 'short',
      queries: [
        {
          expr: `sum by (level, event) (increase(counterstep_engine_events_total{${OURS}}${RATE}))`,
          legend: '{{level}} {{event}}',
        },
        {
          expr: `sum by (name) (increase(counterstep_store_events_total{${OURS}}${RATE}))`,
          legend: 'store {{name}}',
        },
      ],
    },
  ],
}

const SERVER: Row = {
  title: 'HTTP API and process',
  panels: [
    {
      title: 'Answers by status',
      type: 'timeseries',
      unit: 'ops',
      queries: [{ expr: rate('counterstep_http_answers_total', 'status'), legend: '{{status}}' }],
    },
    {
      title: 'Time of a submit',
      description: 'With "prefer: wait" it has the wait for the end in it.',
      type: 'timeseries',
      unit: 's',
      queries: [0.5, 0.99].map((share) => ({
        expr: quantile(
          share,
          'counterstep_http_request_duration_seconds',
          '',
          `${OURS}, method="POST", route="/v1/transactions"`,
        ),
        legend: `${share * 100} % are faster`,
      })),
    },
    {
      title: 'CPU and event loop',
      description:
        'A process uses little more than one core. Behind by half a second, it has too much to do.',
      type: 'timeseries',
      unit: 's',
      queries: [
        {
          expr: `sum by (instance) (rate(process_cpu_seconds_total{${OURS}}${RATE}))`,
          legend: '{{instance}} CPU seconds per second',
        },
        {
          expr: `max by (instance) (nodejs_eventloop_lag_p99_seconds{${OURS}})`,
          legend: '{{instance}} behind',
        },
      ],
    },
    {
      title: 'Memory',
      type: 'timeseries',
      unit: 'bytes',
      queries: [
        { expr: `sum by (instance) (process_resident_memory_bytes{${OURS}})`, legend: '{{instance}}' },
      ],
    },
  ],
}

export const ROWS: readonly Row[] = [NOW, TRANSACTIONS, SERVICES, STORE, SERVER]
