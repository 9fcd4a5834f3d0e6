import { type Panel, ROWS } from './panels.ts'

const COLUMNS = 24
const STAT_HEIGHT = 4
const GRAPH_HEIGHT = 8
const DATA_SOURCE = { type: 'prometheus', uid: '$' + '{datasource}' }

const STAT_OPTIONS = {
  colorMode: 'value',
  graphMode: 'area',
  justifyMode: 'auto',
  orientation: 'auto',
  percentChangeColorMode: 'standard',
  reduceOptions: { calcs: ['lastNotNull'] },
  showPercentChange: false,
  textMode: 'value',
  wideLayout: true,
}
const GRAPH_OPTIONS = {
  legend: { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
  tooltip: { mode: 'multi', sort: 'desc' },
}

/** Builds the dashboard in the form that Grafana imports. */
export function buildDashboard(): object {
  return {
    title: 'Counterstep',
    uid: 'counterstep',
    tags: ['counterstep'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '10s',
    time: { from: 'now-1h', to: 'now' },
    timezone: 'browser',
    annotations: {},
    templating: { list: buildVariables() },
    panels: buildPanels(),
  }
}

function buildVariables(): readonly object[] {
  const query = 'label_values(counterstep_ready, job)'
  return [
    { name: 'datasource', label: 'Data source', type: 'datasource', query: 'prometheus', refresh: 1 },
    {
      name: 'job',
      label: 'Job',
      type: 'query',
      datasource: DATA_SOURCE,
      definition: query,
      query: { query, refId: 'job' },
      refresh: 2,
      multi: true,
      includeAll: true,
      current: { text: ['All'], value: ['$__all'] },
    },
  ]
}

/** Lays each row below the one before, and shares its width among its panels. */
function buildPanels(): readonly object[] {
  let y = 0
  let id = 0
  return ROWS.flatMap(({ title, panels }) => {
    const head = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y: y++, w: COLUMNS, h: 1 },
      panels: [],
    }
    const h = panels.every(({ type }) => type === 'stat') ? STAT_HEIGHT : GRAPH_HEIGHT
    const w = COLUMNS / panels.length
    const laid = panels.map((panel, index) => ({
      id: ++id,
      gridPos: { x: index * w, y, w, h },
      ...buildPanel(panel),
    }))
    y += h
    return [head, ...laid]
  })
}

function buildPanel({ title, description, type, unit, queries, redFrom, redBelow }: Panel): object {
  return {
    title,
    ...(description === undefined ? {} : { description }),
    type,
    datasource: DATA_SOURCE,
    fieldConfig: {
      defaults: { unit, min: 0, ...buildColours(redFrom, redBelow) },
      overrides: [],
    },
    options: type === 'stat' ? STAT_OPTIONS : GRAPH_OPTIONS,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATA_SOURCE,
      expr,
      legendFormat: legend,
    })),
  }
}

function buildColours(redFrom?: number, redBelow?: number): object {
  if (redFrom !== undefined) return { thresholds: buildSteps('green', 'red', redFrom) }
  if (redBelow !== undefined) return { thresholds: buildSteps('red', 'green', redBelow) }
  return {}
}

function buildSteps(low: string, high: string, from: number): object {
  return {
    mode: 'absolute',
    steps: [
      { color: low, value: null },
      { color: high, value: from },
    ],
  }
}
