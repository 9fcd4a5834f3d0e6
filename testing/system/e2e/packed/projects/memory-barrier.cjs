/** A barrier that remembers in memory, for a Node without SQLite, and for Jest, which does not find `node:sqlite`. */
exports.memoryBarrier = () => {
  const answers = new Map()
  return {
    async run({ gid, branchId, op }, effect) {
      const key = `${gid} ${branchId}`
      const known = answers.get(`${key} ${op}`)
      if (known !== undefined) return { decision: 'duplicate', ...known }
      if (op === 'compensate' && !answers.has(`${key} action`)) return { decision: 'null-compensation' }
      const json = JSON.stringify(await effect(undefined))
      const answer = json === undefined ? {} : { answer: json }
      answers.set(`${key} ${op}`, answer)
      return { decision: 'run', ...answer }
    },
  }
}
