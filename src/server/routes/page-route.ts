import type { Exchange } from '../http/exchange.ts'
import { createRoute, type Route } from '../http/route.ts'
import { renderPage } from '../page/render-page.ts'

/** A page for people who open the address in a browser. */
export const PAGE_ROUTE: Route = createRoute({
  id: 'showPage',
  method: 'GET',
  path: '/',
  access: 'client',
  summary: 'The state as a page for people.',
  answers: { 200: { description: 'A page.', mediaType: 'text/html' } },
  handle: showPage,
})

const SHOWN = 200

/** No script, no frame, nothing from elsewhere: names of clients are in it. */
const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
} as const

async function showPage(exchange: Exchange): Promise<void> {
  const { engine } = exchange
  const [stats, list] = await Promise.all([
    engine.read({ kind: 'stats' }),
    engine.read({ kind: 'list', limit: SHOWN }),
  ])
  exchange.sendText(
    200,
    renderPage({ engine: engine.capabilities.name, stats, list }),
    PAGE_HEADERS,
  )
}
