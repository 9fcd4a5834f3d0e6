import { Registry } from 'prom-client'
import { describe, expect, it } from 'vitest'
import { assertOwnMetricsAreWritten } from '../src/metrics/registered-metric.ts'

/** This registry knows only its own classes, as that of another version of prom-client may. */
class StrictRegistry extends Registry {
  override async getSingleMetricAsString(name: string): Promise<string> {
    return `# HELP ${name} nothing`
  }
}

describe('the self-test of the metrics that are none of prom-client', () => {
  it('The self-test of own metrics passes on the installed prom-client, and leaves nothing in the registry', async () => {
    const registry = new Registry()
    registry.setDefaultLabels({ app: 'bank' })
    await assertOwnMetricsAreWritten(registry)
    expect(registry.getMetricsAsArray()).toEqual([])
  })

  it('The self-test names prom-client, its version and the part when a registry does not write own metrics', async () => {
    await expect(assertOwnMetricsAreWritten(new StrictRegistry())).rejects.toThrow(
      /^prom-client \d+\.\d+\.\d+ cannot be used: .*`get` of a metric/,
    )
  })
})
