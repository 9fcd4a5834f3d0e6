import type { AlertsConfig } from '@counterstep/configuration'
import type { AlertOptions, StoreEventMemory } from '@counterstep/engine'
import { writeAlert } from '@counterstep/explain'

/** Puts what the file says into the form that the engine takes, which knows neither sentences nor secret URLs. */
export function buildAlertOptions(
  { consoleUrl, failedShare, targets }: AlertsConfig,
  storeEvents: StoreEventMemory,
): AlertOptions {
  return {
    failedShare,
    storeEvents,
    targets: targets.map(({ service, format, ...rules }) => ({
      ...rules,
      service: service.name,
      writeBody: (facts) => writeAlert(format, facts, consoleUrl),
    })),
  }
}
