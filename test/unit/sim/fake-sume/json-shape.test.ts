import { describe, expect, it } from 'vitest';
import { shapeProblem, type JsonShape } from '../../../../sim/fake-sume/json-shape.ts';

const shape: JsonShape = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    mode: { type: 'string', enum: ['a', 'b'] },
    times: { type: 'integer', minimum: 1, maximum: 3 },
    odds: { type: 'number', minimum: 0, maximum: 1 },
    on: { type: 'boolean' },
    range: { type: 'array', items: { type: 'number' }, minItems: 2, maxItems: 2 },
    credits: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
    anything: {},
    open: { type: 'object', properties: {}, additionalProperties: true },
  },
  required: ['name'],
  additionalProperties: false,
};

describe('checking what came from outside', () => {
  it.each([
    { name: '' },
    { name: 'x', mode: 'b', times: 3, odds: 0.5, on: false, range: [1, 2], credits: null },
    { name: 'x', credits: 4, anything: [{}], open: { what: 'ever' } },
  ])('takes %j', (value) => {
    expect(shapeProblem(value, shape, 'body')).toBeNull();
  });

  it.each([
    [null, 'body is null: give an object.'],
    [[], 'body is []: give an object.'],
    [{}, 'body.name is missing: give it.'],
    [{ name: 1 }, 'body.name is 1: give a string.'],
    [{ name: '', mode: 'c' }, 'body.mode is "c": give one of a, b.'],
    [{ name: '', times: 0 }, 'body.times is 0: give a whole number from 1 to 3.'],
    [{ name: '', times: 1.5 }, 'body.times is 1.5: give a whole number from 1 to 3.'],
    [{ name: '', times: '2' }, 'body.times is "2": give a whole number from 1 to 3.'],
    [{ name: '', odds: 1.1 }, 'body.odds is 1.1: give a number from 0 to 1.'],
    [{ name: '', odds: Number.NaN }, 'body.odds is null: give a number from 0 to 1.'],
    [{ name: '', on: 'yes' }, 'body.on is "yes": give true or false.'],
    [{ name: '', range: [1] }, 'body.range is [1]: give an array of exactly 2.'],
    [{ name: '', range: [1, 'x'] }, 'body.range[1] is "x": give a number.'],
    [{ name: '', range: 5 }, 'body.range is 5: give an array.'],
    [{ name: '', credits: 1.5 }, 'body.credits is 1.5: give a whole number.'],
    [{ name: '', nam: '' }, /^body\.nam is not known: give name, mode/],
    [{ name: '', constructor: 1 }, /^body\.constructor is not known/],
    [{ name: '', open: [] }, 'body.open is []: give an object.'],
    [{ name: ['x'.repeat(500)] }, /^body\.name is .{100}…: give a string\.$/],
  ])('says of %j what is wrong and what would do', (value, problem) => {
    expect(shapeProblem(value, shape, 'body')).toMatch(problem);
  });
});
