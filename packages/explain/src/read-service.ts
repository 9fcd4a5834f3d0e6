import type { OpView } from '@counterstep/protocol'

/** Names the service that an op calls. An older server does not say it, but the URL does. */
export function readService({ service, url }: Pick<OpView, 'service' | 'url'>): string {
  if (service !== undefined) return service
  const named = /^(?:https?:\/\/([^/?#]+)|([\w.-]+):\/)/.exec(url ?? '')
  return named?.[1] ?? named?.[2] ?? 'The service'
}
