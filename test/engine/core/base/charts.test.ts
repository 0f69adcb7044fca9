import assert from 'node:assert/strict';
import { test } from 'node:test';
import { renderBar, renderSparkline } from '../../../../engine/core/base/charts.ts';

test('a column is as high as its share of the largest value, and a dot where there is no value', () => {
  assert.equal(renderSparkline([0, 1, 50, 100]), '·▁▄█');
  assert.equal(renderSparkline([0, 0]), '··');
});

test('a bar is as long as its share of the whole, and any value above zero is visible', () => {
  assert.equal(renderBar(10, 10, 4), '████');
  assert.equal(renderBar(5, 10, 5), '██▌');
  assert.equal(renderBar(1, 100_000, 4), '▏');
  assert.equal(renderBar(0, 10, 4), '');
  assert.equal(renderBar(0, 0, 4), '');
});
