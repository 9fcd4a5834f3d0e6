import { InvalidRequestError } from '@counterstep/protocol'
import type { FastifyInstance } from 'fastify'

const BODY_BYTES_MAX = 1024

/** Makes the routes of this scope accept no body, or `{}` of any content type, so that `curl -X POST url` works. */
export function takeNoBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(
    '*',
    { parseAs: 'string', bodyLimit: BODY_BYTES_MAX },
    (_request, text: string, done) => {
      if (/^\s*(?:\{\s*\}\s*)?$/.test(text)) {
        done(null, undefined)
        return
      }
      const message = 'a command takes no body'
      done(new InvalidRequestError([{ code: 'SAGA_INVALID', path: '', message }]), undefined)
    },
  )
}
