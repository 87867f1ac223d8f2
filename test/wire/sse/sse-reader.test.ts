import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type SseMessage, SseReader } from '../../../src/wire/sse/sse-reader.ts'

function read(...pieces: readonly string[]): SseMessage[] {
  const messages: SseMessage[] = []
  const reader = new SseReader((message) => messages.push(message))
  for (const piece of pieces) reader.feed(piece)
  return messages
}

describe('a stream of events', () => {
  it('is read block by block, whatever its line breaks are', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['id: 1', 'data: a', '', 'event: reset', 'data:b', 'data: c', '', ''].join(end)
      expect(read(`${text}: `)).toEqual([
        { id: '1', event: 'message', data: 'a' },
        { id: '1', event: 'reset', data: 'b\nc' },
      ])
    }
  })

  it('has comments and unknown fields that mean nothing', () => {
    expect(read(': hello\n\nretry: 10\n\ndata\n\n')).toEqual([
      { id: undefined, event: 'message', data: '' },
    ])
  })

  it('may say where it stands without saying anything', () => {
    expect(read('id: 7\n\n')).toEqual([{ id: '7', event: 'message', data: undefined }])
  })

  it('is the same in whatever pieces it arrives', () => {
    const text = 'id: 1\r\ndata: {"a":"ä"}\r\n\r\n: \n\nid: 2\ndata: x\n\nevent: reset\ndata: y\n\n'
    const whole = read(text)
    fc.assert(
      fc.property(fc.array(fc.nat(text.length)), (cuts) => {
        const places = [0, ...cuts.toSorted((one, other) => one - other), text.length]
        const pieces = places.slice(1).map((end, index) => text.slice(places[index], end))
        expect(read(...pieces)).toEqual(whole)
      }),
    )
  })

  it('that goes on without a line break is refused', () => {
    expect(() => read('x'.repeat(2 * 1024 * 1024))).toThrow('has no end')
  })
})
