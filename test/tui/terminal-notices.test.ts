import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findNoticeForm, formatNotice, type NoticeForm, takeFocus } from '../../tui/terminal-notices.ts';

const FORMS: readonly (readonly [name: string, env: NodeJS.ProcessEnv, form: NoticeForm])[] = [
  ['kitty', { TERM: 'xterm-kitty' }, 'osc99'],
  ['Ghostty', { TERM: 'xterm-ghostty', TERM_PROGRAM: 'ghostty' }, 'osc777'],
  ['foot', { TERM: 'foot', TERM_PROGRAM: 'iTerm.app' }, 'osc777'],
  ['foot with more colours', { TERM: 'foot-extra' }, 'osc777'],
  ['WezTerm', { TERM: 'xterm-256color', TERM_PROGRAM: 'WezTerm' }, 'osc777'],
  ['iTerm2', { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app' }, 'osc9'],
  ['iTerm2 over ssh', { TERM: 'xterm-256color', LC_TERMINAL: 'iTerm2' }, 'osc9'],
  [
    'VS Code started from iTerm2',
    { TERM: 'xterm-256color', TERM_PROGRAM: 'vscode', LC_TERMINAL: 'iTerm2' },
    'bell',
  ],
  ['Alacritty started from Ghostty', { TERM: 'alacritty', TERM_PROGRAM: 'ghostty' }, 'bell'],
  ['Windows Terminal', { TERM: 'xterm-256color', WT_SESSION: '1' }, 'bell'],
  ['tmux in kitty', { TERM: 'tmux-256color', TMUX: '/tmp/x,1,0' }, 'bell'],
  ['tmux that keeps the name of kitty', { TERM: 'xterm-kitty', TMUX: '/tmp/x,1,0' }, 'bell'],
  ['screen in kitty', { TERM: 'xterm-kitty', STY: '1.pts' }, 'bell'],
  ['Zellij in kitty', { TERM: 'xterm-kitty', ZELLIJ: '0' }, 'bell'],
  ['no terminal', {}, 'bell'],
];

describe('a notice on a terminal', () => {
  for (const [name, env, form] of FORMS)
    it(`${name} gets ${form}`, () => assert.equal(findNoticeForm(env), form));

  it('each form is one complete sequence', () => {
    const notice = { title: 'svc acme', text: 't-1 asks: a; b?' };
    assert.equal(
      formatNotice('osc99', notice, 'svc-1'),
      '\u001b]99;i=svc-1:d=0:o=unfocused;svc acme\u001b\\\u001b]99;i=svc-1:d=1:p=body:o=unfocused;t-1 asks: a, b?\u001b\\',
    );
    assert.equal(formatNotice('osc777', notice, ''), '\u001b]777;notify;svc acme;t-1 asks: a, b?\u001b\\');
    assert.equal(formatNotice('osc9', notice, ''), '\u001b]9;svc acme: t-1 asks: a, b?\u001b\\');
    assert.equal(
      formatNotice('osc9', { ...notice, title: '4;1' }, ''),
      '\u001b]9; 4,1: t-1 asks: a, b?\u001b\\',
    );
    assert.equal(formatNotice('bell', notice, ''), '\u0007');
  });

  it('a title cannot end its sequence or start another one', () => {
    const evil = '\u0007\u001b\\\u009c\u001b]52;c;aGk=\u0007\n\u202e\ud800';
    for (const form of ['osc99', 'osc777', 'osc9'] as const) {
      const sequence = formatNotice(form, { title: evil, text: evil }, '1');
      const inside = sequence.replaceAll(/\u001b\\|\u001b\]/g, '');
      assert.doesNotMatch(inside, /[\u0000-\u001f\u007f-\u009f\u202e]/, form);
      assert.equal(sequence.split('\u001b').length - 1, form === 'osc99' ? 4 : 2, form);
    }
  });

  it('reports of the focus are taken out of the keys around them', () => {
    const seen: boolean[] = [];
    const rest = takeFocus('j\u001b[Ik\u001b[O\u001b[A', (hasFocus) => void seen.push(hasFocus));
    assert.deepEqual([rest, seen], ['jk\u001b[A', [true, false]]);
  });
});
