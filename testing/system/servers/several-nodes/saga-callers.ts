import type { Fixture } from './fixture.ts'
import { submit } from './node-client.ts'
import { serialSaga } from './saga-requests.ts'

const WAIT_SECONDS = 20

/** Runs sagas one after the other in each of `callers`, all on the first node, each to its end. */
export async function runSagas(
  fixture: Fixture,
  word: string,
  { callers, each, branches }: { readonly callers: number; readonly each: number; readonly branches: number },
): Promise<void> {
  const [url = ''] = fixture.urls
  const call = async (caller: number) => {
    for (let index = 0; index < each; index++) {
      const request = serialSaga(`${word}-${caller}-${index}`, fixture.branches.url, branches)
      const answer = await submit(url, request, { waitSeconds: WAIT_SECONDS })
      if (answer.type !== 'view' || answer.view.status !== 'succeeded') {
        throw new Error(`${request.gid}: ${JSON.stringify(answer)}`)
      }
    }
  }
  await Promise.all(Array.from({ length: callers }, (_, caller) => call(caller)))
}
