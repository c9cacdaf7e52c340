/**
 * Stands in for the package `tough-cookie` in the lab's bundle: MSW keeps cookies with it, Sume has none, and
 * it is nine tenths of MSW's weight.
 */
export const Cookie: { parse: () => undefined } = { parse: (): undefined => undefined };

export class MemoryCookieStore {
  idx: Record<string, unknown> = {};
}

export class CookieJar {
  getCookiesSync(): never[] {
    return [];
  }

  async setCookie(): Promise<void> {}
}
