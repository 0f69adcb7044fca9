import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Key } from 'ink';
import { createKeyCollector } from '../../tui/effects.ts';
import { nameInkKeys } from '../../tui/ink-keys.ts';
import { bench, taskRow } from '../support/terminals/dashboard.ts';

const NONE = {} as Key;

describe('keys that arrive in one chunk', () => {
  it('keys of one chunk are recognised each, those with Ctrl as well', () => {
    assert.deepEqual(nameInkKeys('\u0015ab c\r', NONE), ['ctrl+u', 'a', 'b', 'space', 'c', 'enter']);
    assert.deepEqual(nameInkKeys('a\u007fb\u0008\u0001\u001a', NONE), [
      ...['a', 'backspace', 'b', 'backspace', 'ctrl+a', 'ctrl+z'],
    ]);
    assert.deepEqual(nameInkKeys('\t\u001b', NONE), ['tab', 'esc']);
  });

  it('keys of one chunk edit a line as single ones do', () => {
    const self = bench()
      .data({ tasks: [taskRow(1)] })
      .keys('/', 'o', 'l', 'd');
    self.burst(...nameInkKeys('\u0015new\u007f', NONE));
    const { overlay } = self.state();
    assert.equal(overlay?.kind === 'filter' ? overlay.input.value : null, 'ne');
  });

  it('keys of one chunk only move in a list', () => {
    const self = bench().data({ tasks: [taskRow(1), taskRow(2)] });
    self.burst(...nameInkKeys('j\u0003\u001a', NONE));
    assert.equal(self.state().lists.work.selected, 't-2');
    assert.deepEqual(self.effects(), []);
  });

  it('keys of one chunk precede the text that is pasted after them', async () => {
    const seen: unknown[] = [];
    const { collect, paste } = createKeyCollector({
      send: (event) => seen.push(event.type === 'keys' ? event.keys : event),
    });
    collect(['tab']);
    paste('one');
    collect(['j']);
    collect(['k']);
    await Promise.resolve();
    assert.deepEqual(seen, [['tab'], { type: 'paste', text: 'one' }, ['j', 'k']]);
  });
});
