import { describe, expect, it } from 'vitest';
import { controlRefusal, mayDeliverTo } from '../../../../../sim/fake-sume/port/access.ts';

describe('who may use the control API', () => {
  const from = (
    host: string | null,
    origin: string | null = null,
    fetchSite: string | null = null,
    boundHost = '127.0.0.1',
  ): boolean => controlRefusal({ host, origin, fetchSite }, boundHost) === null;

  it.each([
    'localhost:4010',
    'LOCALHOST:4010',
    '127.0.0.1:4010',
    '127.8.8.8',
    '[::1]:4010',
    'sume.localhost:4010',
    '192.168.1.5:4010',
  ])('%s is an address of this machine, or a bare one', (host) => {
    expect(from(host)).toBe(true);
  });

  it.each([
    null,
    '',
    'evil.example',
    'evil.example:4010',
    'localhost.evil.example',
    '127.0.0.1.evil.example:4010',
    'localhost:4010@evil.example',
    'a b',
  ])('%s is none', (host) => {
    expect(from(host)).toBe(false);
  });

  it('the name that the server was told to listen on is one as well', () => {
    expect(from('build-box:4010', null, null, 'build-box')).toBe(true);
    expect(from('build-box:4010')).toBe(false);
  });

  it('a page of the server itself may, a page of any other may not', () => {
    expect(from('localhost:4010', 'http://localhost:4010', 'same-origin')).toBe(true);
    for (const origin of [
      'http://evil.example',
      'http://localhost:3000',
      'https://localhost:4010',
      'http://127.0.0.1:4010',
      'null',
    ]) {
      expect(from('localhost:4010', origin), origin).toBe(false);
    }
  });

  it('a request that a browser sends for another site may not, even without an Origin', () => {
    expect(from('localhost:4010', null, 'cross-site')).toBe(false);
    expect(from('localhost:4010', null, 'same-site')).toBe(false);
    // Typed into the address bar.
    expect(from('localhost:4010', null, 'none')).toBe(true);
  });
});

describe('where webhooks may go', () => {
  it.each(['http://localhost:1/x', 'https://127.0.0.1', 'http://[::1]:5', 'http://a.localhost'])(
    'always to this machine: %s',
    (address) => {
      expect(mayDeliverTo(address, [])).toBe(true);
    },
  );

  it.each(['https://app.example/hook', 'https://169.254.169.254', 'http://127.0.0.1.example'])(
    'not to any other unless it was named: %s',
    (address) => {
      expect(mayDeliverTo(address, [])).toBe(false);
      expect(mayDeliverTo(address, ['other.example'])).toBe(false);
      expect(mayDeliverTo(address, [new URL(address).hostname])).toBe(true);
    },
  );

  it('to one port of a host only, if it was named so', () => {
    expect(mayDeliverTo('https://app.example:8443/hook', ['app.example:8443'])).toBe(true);
    expect(mayDeliverTo('https://app.example/hook', ['app.example:8443'])).toBe(false);
    expect(mayDeliverTo('https://app.example:8443/hook', ['app.example'])).toBe(true);
  });
});
