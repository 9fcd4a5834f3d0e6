/**
 * Name servers of these suffixes answer `10-0-0-1.SUFFIX`, and most of them `10-0-0-1.anything.SUFFIX` too, with the
 * address in the name. So a client can write a name that leads into the network of this server, and need not register
 * it. All suffixes but the last are public. With the last one the CoreDNS of a cluster mostly answers so, even if no
 * pod has the address.
 */
const SUFFIXES: readonly string[] = [
  'nip.io',
  'sslip.io',
  'xip.io',
  'traefik.me',
  'backname.io',
  'plex.direct',
  'local-ip.co',
  'local-ip.sh',
  '1u.ms',
  'rbndr.us',
  'pod.cluster.local',
]

export function resolvesToAnyAddress(hostname: string): boolean {
  return SUFFIXES.some((suffix) => hostname === suffix || hostname.endsWith(`.${suffix}`))
}
