import { describe, expect, it } from 'vitest'
import { isJsonRpc, isJsonRpcPayload, readJsonRpcAnswer } from './json-rpc.ts'

describe('a call by JSON-RPC', () => {
  it('A URL is called by JSON-RPC if the definition says so and the text "method" is in the URL', () => {
    const url = 'http://shop/methods'
    expect(isJsonRpc({ jsonRpc: true }, url)).toBe(true)
    expect(isJsonRpc({ jsonRpc: true }, 'http://shop/METHOD')).toBe(false)
    expect(isJsonRpc({}, url)).toBe(false)
  })

  it('A payload is an object without the names of the identity, in any spelling', () => {
    for (const payload of ['', '{}', ' {"a":{"gid":1}} ', '{"gids":1}', '{"__proto__":1}'])
      expect(isJsonRpcPayload(payload), payload).toBe(true)
    for (const payload of [
      'null',
      '[]',
      '1',
      '{',
      '{"gid":1}',
      '{"GID":1}',
      '{"branch_ID":1}',
      '{"\\u006fp":1}',
    ])
      expect(isJsonRpcPayload(payload), payload).toBe(false)
  })

  it('The error within a success decides, and every other answer counts as it is', () => {
    const table = [
      ['{"result":1}', 'success'],
      ['{"result":1,"error":null}', 'success'],
      ['{"error":{"code":-32901}}', 'failure'],
      ['{"error":{"code":-32902}}', 'ongoing'],
      ['{"error":null,"Error":{"code":-32901}}', 'failure'],
      ['{"result":1,"ERROR":{"code":-32603}}', 'unknown'],
      ['{"Error":null}', 'success'],
      ['{"error":{"code":"-32901"}}', 'unknown'],
      ['{"error":{"code":-32000}}', 'unknown'],
      ['{"error":"no"}', 'unknown'],
      ['{"error":false}', 'unknown'],
      ['[{"error":{"code":-32901}}]', 'unknown'],
      ['', 'unknown'],
      [undefined, 'unknown'],
    ] as const
    for (const [body, result] of table) {
      const answer = readJsonRpcAnswer({
        result: 'success',
        statusCode: 200,
        ...(body === undefined ? {} : { body }),
      })
      expect(answer.result, body).toBe(result)
      expect('body' in answer).toBe(false)
    }
    for (const result of ['failure', 'ongoing', 'unknown'] as const)
      expect(readJsonRpcAnswer({ result, body: '{"error":null}' }).result).toBe(result)
  })
})
