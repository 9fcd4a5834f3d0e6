import type { ReactNode } from 'react'

interface CardProps {
  readonly title: string
  readonly children: ReactNode
  readonly tone?: 'plain' | 'bad' | 'warn' | 'good'
  readonly isWide?: boolean
}

export function Card({ title, children, tone = 'plain', isWide = false }: CardProps) {
  return (
    <section className="card" data-tone={tone} data-wide={isWide}>
      <h2>{title}</h2>
      {children}
    </section>
  )
}
