/** Bytes that are not what they should be. Nothing of the message they are in was done. */
export class ProtocolError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ProtocolError'
  }
}
