import type { InspectReply, ListReply, StatsReply } from '../../engine/queries.ts'

export interface PageParts {
  /** What the engine calls itself. */
  readonly engine: string
  readonly stats: StatsReply
  readonly list: ListReply
}

const HOLDERS_SHOWN = 10
const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS

const LINKS: readonly (readonly [path: string, text: string])[] = [
  ['/v1/locks', 'locks as JSON'],
  ['/v1/history', 'history'],
  ['/metrics', 'metrics'],
  ['/healthz', 'alive?'],
  ['/readyz', 'ready?'],
  ['/openapi.json', 'OpenAPI'],
]

/** The state as a page: who holds what, since when, who waits. It is as old as its loading. */
export function renderPage({ engine, stats, list }: PageParts): string {
  const links = LINKS.map(([path, text]) => `<a href="${path}">${text}</a>`).join(' · ')
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Holdfast</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 64rem; padding: 0 1rem }
table { border-collapse: collapse; width: 100% }
th, td { border-bottom: 1px solid #ccc; padding: .3rem .6rem; text-align: left; vertical-align: top }
td { overflow-wrap: anywhere }
</style>
</head>
<body>
<h1>Holdfast</h1>
<p>${escapeHtml(engine)}: ${stats.holds} held, ${stats.waiters} waiting, ${stats.sessions} sessions, ${stats.references} references.</p>
<p>${links}</p>
${renderLocks(list)}
</body>
</html>
`
}

function renderLocks({ locks, cursor }: ListReply): string {
  if (locks.length === 0) return '<p>Nothing is held or waited for.</p>'
  const more = cursor === null ? '' : '<p>There are more; the list as JSON has pages.</p>'
  return `<table>
<thead><tr><th>key</th><th>holders</th><th>waiting</th></tr></thead>
<tbody>
${locks.map(renderLock).join('\n')}
</tbody>
</table>
${more}`
}

function renderLock({ key, namespace, holders, queue, queueLength }: InspectReply): string {
  const held = holders
    .slice(0, HOLDERS_SHOWN)
    .map(
      ({ owner, mode, token, heldMs, leaseMs }) =>
        `${escapeHtml(owner)} (${mode}, token ${token}, for ${showTime(heldMs)}, ${showTime(leaseMs)} left)`,
    )
  if (holders.length > HOLDERS_SHOWN) held.push(`and ${holders.length - HOLDERS_SHOWN} more`)
  const [next] = queue
  const waiting =
    next === undefined
      ? ''
      : `${queueLength}, next ${escapeHtml(next.owner)} since ${showTime(next.waitedMs)}`
  const kind = namespace === 'operation' ? 'operation on ' : ''
  return `<tr><td>${kind}${escapeHtml(key)}</td><td>${held.join('<br>')}</td><td>${waiting}</td></tr>`
}

function showTime(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(0, Math.round(ms / SECOND_MS))} s`
  return `${Math.round(ms / MINUTE_MS)} min`
}

const HTML_ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Clients choose names freely, so a name may look like HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => HTML_ENTITIES[character] ?? '')
}
