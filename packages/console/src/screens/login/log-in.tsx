import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { logIn, sessionKey } from '../../api/session.ts'
import { ProblemText } from '../../parts/notice.tsx'
import { Logo } from '../../shell/logo.tsx'
import '../../style/login.css'

/** The key goes to the server once. The browser then has a cookie that no script can read, and this page a secret that no other port sees. */
export function LogIn() {
  const client = useQueryClient()
  const [key, setKey] = useState('')
  const [person, setPerson] = useState('')
  const entering = useMutation({
    mutationFn: () => logIn(key.trim(), person.trim()),
    onSuccess: (session) => {
      setKey('')
      client.setQueryData(sessionKey, session)
    },
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    entering.mutate()
  }
  return (
    <main className="login">
      <form onSubmit={submit}>
        <h1>
          <Logo /> Counterstep
        </h1>
        <label>
          API key
          <input
            type="password"
            value={key}
            required
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setKey(event.target.value)}
          />
        </label>
        <label>
          Your name <span className="quiet">(optional)</span>
          <input
            type="text"
            value={person}
            autoComplete="name"
            maxLength={64}
            onChange={(event) => setPerson(event.target.value)}
          />
        </label>
        <p className="quiet">Your name stands beside the commands that you give. It is not proven.</p>
        {entering.error === null ? null : <ProblemText error={entering.error} />}
        <button type="submit" className="primary" disabled={entering.isPending || key.trim() === ''}>
          {entering.isPending ? 'Logging in …' : 'Log in'}
        </button>
      </form>
    </main>
  )
}
