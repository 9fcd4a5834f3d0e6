import { LibraryChangedError } from '@counterstep/protocol'
import type { Metric, Registry } from 'prom-client'
import promClient from 'prom-client/package.json' with { type: 'json' }

export interface MetricValues {
  readonly name: string
  readonly help: string
  readonly type: 'histogram'
  readonly aggregator: 'sum'
  readonly values: readonly {
    readonly metricName: string
    readonly labels: Readonly<Record<string, string | number>>
    readonly value: number
  }[]
}

/** Describes a metric that is not of a class of prom-client. */
export interface OwnMetric {
  readonly name: string
  get(): Promise<MetricValues>
}

/**
 * Adds a metric of our own to a registry. It relies on an undocumented part of prom-client, read in 15.1.3: a registry
 * uses only `name` and `get` of its metrics, although its types ask for prom-client's own classes. A histogram of that
 * class cannot take counts that were made elsewhere.
 */
export function registerOwnMetric(registry: Registry, metric: OwnMetric): void {
  registry.registerMetric(metric as unknown as Metric)
}

const SELF_TEST: MetricValues = {
  name: 'counterstep_self_test',
  help: 'It is there only while the server starts.',
  type: 'histogram',
  aggregator: 'sum',
  values: [{ metricName: 'counterstep_self_test_bucket', labels: { le: 1 }, value: 7 }],
}

/**
 * Tests that a registry writes such a metric, before the API serves its first request. Throws a LibraryChangedError.
 */
export async function assertOwnMetricsAreWritten(
  registry: Pick<Registry, 'registerMetric' | 'getSingleMetricAsString' | 'removeSingleMetric'>,
): Promise<void> {
  const { name } = SELF_TEST
  registry.registerMetric({ name, get: () => Promise.resolve(SELF_TEST) } as unknown as Metric)
  const text = await registry.getSingleMetricAsString(name).finally(() => registry.removeSingleMetric(name))
  // A registry of the user may add labels of its own.
  if (/^counterstep_self_test_bucket\{le="1".*\} 7$/m.test(text)) return
  throw new LibraryChangedError({
    library: 'prom-client',
    version: promClient.version,
    part: '`get` of a metric, from which a registry did not write the values',
    readIn: '15.1.3',
  })
}
