import { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { assertPendingAnswerIsKept } from '../src/pending-answer.ts'

/** This answer leaves no trace at its socket, as that of another version of Node may. */
class TracelessAnswer extends ServerResponse {
  override assignSocket(): void {
    return
  }

  override detachSocket(): void {
    return
  }
}

describe("the self-test of the answer that Node's HTTP server keeps at a socket", () => {
  it("The self-test of Node's pending answer passes on this Node", () => {
    expect(() => assertPendingAnswerIsKept()).not.toThrow()
  })

  it('The self-test names Node, its version and the part when the answer is not there', () => {
    expect(() => assertPendingAnswerIsKept((request) => new TracelessAnswer(request))).toThrow(
      `node ${process.versions.node} cannot be used: it has changed \`_httpMessage\` of the sockets`,
    )
  })
})
