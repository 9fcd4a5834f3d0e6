import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import type { Hit } from './node-messages.ts'
import { StartedNode } from './started-node.ts'

/** Dies while the file is made; whether the next open makes of it what it should be, or refuses, shows in its start. */
export async function crashWhileOpening(
  path: string,
  hit: Hit,
  program: string,
): Promise<'killed' | 'missed'> {
  const watch = new SecretWatch()
  const first = await StartedNode.start({ path, armed: hit }, watch, { program })
  if (first.type === 'listening') await first.node.kill()
  const second = await StartedNode.start({ path }, watch, { program })
  if (second.type === 'died') throw new Error('a node that is not armed has died')
  await second.node.maintain()
  await second.node.kill()
  watch.assertNone()
  return first.type === 'died' ? 'killed' : 'missed'
}
