import { Link } from '@tanstack/react-router'

export function Tags({ tags }: { readonly tags: Readonly<Record<string, string>> | undefined }) {
  const words = Object.entries(tags ?? {}).map(([key, value]) => `${key}:${value}`)
  if (words.length === 0) return null
  return (
    <span className="tags">
      {words.map((tag) => (
        <Link key={tag} to="/list" search={{ tag }} className="tag" title={`See all with ${tag}`}>
          {tag}
        </Link>
      ))}
    </span>
  )
}
