import type { Redis } from 'ioredis'

/** Asks the node that has the key, since in a cluster the other nodes refuse. */
export async function askOwner(
  connections: readonly Redis[],
  ...command: [string, ...(string | number)[]]
): Promise<unknown> {
  const [name, ...args] = command
  const outcomes = await Promise.allSettled(connections.map((connection) => connection.call(name, ...args)))
  const answer = outcomes.find((outcome) => outcome.status === 'fulfilled')
  if (answer === undefined) throw (outcomes[0] as PromiseRejectedResult).reason
  return answer.value
}
