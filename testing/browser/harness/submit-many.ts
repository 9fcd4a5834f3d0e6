const AT_ONCE = 20

/** Submits all of these, some at once, to each server in turn. */
export async function submitMany(
  urls: readonly string[],
  bodies: readonly object[],
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const left = bodies.entries()
  const submitNext = async () => {
    for (const [index, body] of left) {
      const answer = await fetch(`${urls[index % urls.length]}/v1/transactions`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      })
      if (!answer.ok) throw new Error(`a submit is answered ${answer.status}: ${await answer.text()}`)
      await answer.body?.cancel()
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, submitNext))
}
