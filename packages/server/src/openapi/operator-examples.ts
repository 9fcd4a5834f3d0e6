import type { NamesView, OverviewView, PanelsView, PanelView, ServicesView } from '@counterstep/protocol'

const NOW = 1_795_132_860_000
const SINCE = NOW - 3_600_000
const MINUTE = NOW - 60_000

const minutes = [{ at: MINUTE, accepted: 412, succeeded: 407, failed: 4, stopped: 0 }]
const latency = { count: 411, p50Ms: 41, p95Ms: 120, p99Ms: 900 }

export const overviewExample: OverviewView = {
  asOf: NOW,
  since: SINCE,
  store: { name: 'mysql', durabilityClass: 'A', failover: 'lossless', state: 'up', asOf: NOW - 3_000 },
  unfinished: { prepared: 12, submitted: 3_050, aborting: 142 },
  attention: 138,
  paused: 3,
  byHand: 1,
  oldestDueAt: NOW - 400,
  oldestUnfinishedAt: NOW - 7_200_000,
  nodes: [
    {
      id: 'api-1-5f0c1a',
      startedAt: SINCE,
      state: 'up',
      seenAt: NOW,
      inFlight: 1_020,
      inFlightMax: 4_096,
      loopP99Ms: 4,
      version: '0.1.0',
    },
  ],
  minutes,
  latency,
  slowestNames: [{ name: 'payout', ended: 90, failed: 1, p95Ms: 850 }],
  mostFailedNames: [{ name: 'transfer', ended: 321, failed: 3, p95Ms: 98 }],
  worstServices: [{ service: 'bank-a', calls: 410, unknown: 114, p95Ms: 1_004 }],
  refusedSubmits: [{ code: 'SAGA_TARGET_OVER_CAPACITY', count: 2 }],
}

export const servicesExample: ServicesView = {
  asOf: NOW,
  since: SINCE,
  nodes: 1,
  items: [
    {
      service: 'bank-a',
      ops: [
        {
          op: 'action',
          minutes: [{ at: MINUTE, success: 291, failure: 5, ongoing: 0, unknown: 114 }],
          latency: { count: 410, p50Ms: 11, p95Ms: 640, p99Ms: 1_000 },
        },
      ],
      callsPerSecond: 6.83,
      outcomes: { success: 291, failure: 5, ongoing: 0, unknown: 114 },
      latency: { count: 410, p50Ms: 11, p95Ms: 640, p99Ms: 1_000 },
      connections: 50,
      queued: 212,
      waiting: 1_075,
      attention: 128,
      looksDown: false,
    },
  ],
}

export const namesExample: NamesView = {
  asOf: NOW,
  since: SINCE,
  nodes: 1,
  items: [{ name: 'transfer', minutes, latency }],
}

export const panelsExample: PanelsView = {
  items: [
    { id: 'keys', title: 'API keys' },
    { id: 'settings', title: 'Settings' },
  ],
}

export const panelExample: PanelView = {
  id: 'keys',
  title: 'API keys',
  asOf: NOW,
  columns: [
    { title: 'id', type: 'code' },
    { title: 'name', type: 'text' },
    { title: 'scopes', type: 'text' },
    { title: 'made', type: 'instant' },
    { title: 'expires', type: 'instant' },
  ],
  rows: [
    ['k3v9x2m7q1ab', 'checkout', 'submit', SINCE, NOW + 86_400_000],
    ['p0d4w8z6n5cd', 'ops', 'read, operate', SINCE, 'never'],
  ],
  more: 0,
}
