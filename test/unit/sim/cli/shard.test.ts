import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isIn, shardOf, split, type Shard } from '../../../../sim/cli/shard.ts';
import { UsageError } from '../../../../sim/cli/usage-error.ts';
import { withoutSharing } from '../../../../sim/cli/workers.ts';

const anyShard: fc.Arbitrary<Shard> = fc
  .integer({ min: 1, max: 50 })
  .chain((of) => fc.record({ index: fc.integer({ min: 1, max: of }), of: fc.constant(of) }));

describe('a search that is shared', () => {
  test('has each of its pieces in exactly one shard', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(), (of, piece) => {
        const shards = Array.from({ length: of }, (_, at) => shardOf(`${at + 1}/${of}`));
        expect(shards.filter((shard) => isIn(shard, piece))).toHaveLength(1);
      }),
    );
  });

  test('is shared further without overlap: who has a piece of a shard is one of its parts', () => {
    fc.assert(
      fc.property(anyShard, fc.integer({ min: 1, max: 16 }), fc.nat(), (shard, jobs, piece) => {
        const parts = split(shard, jobs).filter((part) => isIn(part, piece));
        expect(parts).toHaveLength(isIn(shard, piece) ? 1 : 0);
      }),
    );
  });

  test.each(['', '3', '0/4', '5/4', '1/0', '-1/4', '1.5/4', '1/4/2', ' 1/4', '1/99999'])(
    'refuses the shard %j, and says what one is',
    (text) => {
      expect(() => shardOf(text)).toThrow(UsageError);
      expect(() => shardOf(text)).toThrow('3/16');
    },
  );

  test('hands its workers everything but how to share and how to print', () => {
    expect(
      withoutSharing(
        'fuzz all --jobs 4 --runs 9 --shard=1/2 --json --seed 3 --jobs=2 --full'.split(' '),
      ),
    ).toEqual('fuzz all --runs 9 --seed 3'.split(' '));
  });
});
