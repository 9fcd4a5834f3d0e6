import type { TransactionView } from '@counterstep/protocol'
import type { SecretWatch } from '@counterstep/test-servers/secret-watch'

const AT_ONCE = 32

/** Those that exist, by gid. */
export async function lookMany(
  url: string,
  gids: readonly string[],
  watch: SecretWatch,
): Promise<Map<string, TransactionView>> {
  const views = new Map<string, TransactionView>()
  const left = [...gids]
  const lookAll = async () => {
    for (let gid = left.pop(); gid !== undefined; gid = left.pop()) {
      const response = await fetch(`${url}/v1/transactions/${gid}`)
      const text = await response.text()
      watch.hear('views', text)
      const body: unknown = JSON.parse(text)
      if (response.status === 200) views.set(gid, body as TransactionView)
      else if (response.status !== 404) {
        throw new Error(`GET of ${gid} answered ${response.status}: ${JSON.stringify(body)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, lookAll))
  return views
}
