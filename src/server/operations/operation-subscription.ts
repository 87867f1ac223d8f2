import type { PrincipalView } from '../access/principal-view.ts'
import type { EventStream } from '../observe/event-stream.ts'
import { type OperationNews, toEventBody } from './operation-news.ts'
import type { ReferenceClaims } from './reference-claims.ts'

/** What is listened to, and by whom, if that is said. */
export interface ListenedTo {
  readonly type: string
  readonly resource: string
  readonly node?: string | undefined
}

/**
 * One listener on a type of operation. What it hears before its stream is open is kept, so that nothing is
 * lost between looking at the state and listening.
 */
export class OperationSubscription {
  readonly #to: ListenedTo
  readonly #view: PrincipalView
  /** As the engine knows it. */
  readonly #node: string | undefined
  #kept: OperationNews[] = []
  #stream: EventStream | undefined

  readonly #references: ReferenceClaims

  constructor(to: ListenedTo, view: PrincipalView, references: ReferenceClaims) {
    this.#to = to
    this.#view = view
    this.#references = references
    this.#node = to.node === undefined ? undefined : view.toStored(to.node)
  }

  hear(news: OperationNews): void {
    if (!this.#concerns(news)) return
    if (this.#stream === undefined) this.#kept.push(news)
    else this.#send(this.#stream, news)
  }

  /** From here on everything is sent: first what is given, then what came since. */
  open(stream: EventStream, first: readonly OperationNews[]): void {
    this.#stream = stream
    for (const news of [...first, ...this.#kept]) {
      if (this.#concerns(news)) this.#send(stream, news)
    }
    this.#kept = []
  }

  /** A listener that names its node hears only of its own grants; the others have to ask whose it is. */
  #concerns({ kind, type, node }: OperationNews): boolean {
    if (kind === 'reset') return true
    if (type !== this.#to.type) return false
    const isForOne = kind === 'granted' || kind === 'turned-away'
    return !isForOne || this.#node === undefined || this.#node === node
  }

  #send(stream: EventStream, news: OperationNews): void {
    const { type, resource } = this.#to
    const isReset = news.kind === 'reset'
    stream.send({
      id: news.id,
      event: isReset ? 'reset' : undefined,
      data: toEventBody({ ...news, type }, resource, (name) => this.#view.toShown(name)),
    })
    if (news.kind === 'succeeded') this.#references.told({ type, resource, node: this.#node })
  }
}
