import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { hostile } from '../../support/hostile.ts';
import { runGit } from '../../support/workspaces/git.ts';
import { makeWorkspace } from '../../support/workspaces/workspace.ts';

/** Settings that make a push run `$RUN` or go to `$EVIL`, as arguments of `git config`. */
const WAYS: Record<string, string[]> = {
  'a program instead of ssh': ['core.sshCommand $RUN'],
  'a helper for passwords': ["credential.helper '!$RUN'"],
  'a helper for one host': ["credential.https://example.test.helper '!$RUN'"],
  'a program of the other side': ["remote.origin.receivepack '$RUN; git-receive-pack'"],
  'another program of the other side': ["remote.origin.uploadpack '$RUN; git-upload-pack'"],
  'a helper of the remote': ['remote.origin.vcs evil'],
  'another address for pushes': ['remote.origin.pushurl $EVIL'],
  'a second address': ['--add remote.origin.url $EVIL'],
  'an address that is written anew': ['url.$EVIL.insteadOf $ORIGIN'],
  'an address that is written anew for pushes': ['url.$EVIL.pushInsteadOf $ORIGIN'],
  'a signature of the push': ['gpg.program $RUN', 'push.gpgSign true'],
  'a key command': ["gpg.ssh.defaultKeyCommand '$RUN'"],
  'a hook by configuration': ["hook.evil.command '$RUN'", 'hook.evil.event pre-push'],
  'a hook of the collection': ["gc.recentObjectsHook '$RUN'"],
  'an alias': ["alias.push '!$RUN'"],
  'a transfer of large files': ["lfs.customtransfer.evil.path '$RUN'", 'lfs.standalonetransferagent evil'],
  'options of a push': ['push.pushOption evil'],
};

hostile(
  {
    attacker: 'worker',
    tries: 'make svc worktree pr run its program or push elsewhere, by settings from an earlier run',
    lite: 'refused with their names while they are in force',
    strict: 'refused: configurations are read-only',
  },
  async () => {
    const ws = await makeWorkspace();
    try {
      const { root, repository } = ws;
      const { folder } = repository;
      const bin = join(folder, 'bin');
      mkdirSync(bin);
      writeFileSync(join(bin, 'gh'), '#!/bin/sh\necho https://github.example/o/r/pull/7\n');
      chmodSync(join(bin, 'gh'), 0o755);
      const [origin, evil, marker] = ['origin.git', 'evil.git', 'ran'].map((name) => join(folder, name)) as [
        string,
        string,
        string,
      ];
      for (const bare of [origin, evil]) runGit(folder, 'init', '-q', '--bare', bare);
      repository.git('remote', 'add', 'origin', origin);
      const env = { PATH: `${bin}${delimiter}${process.env.PATH}` };
      const client = await ws.connect();
      const run = async (...lines: string[]): Promise<string> => {
        const body = ['x', ...lines.map((line) => `#agent: ${line}`)].join('\n');
        const { task_id: id } = await client.call('task.add', { title: 'w', body });
        return (await client.call('task.run', { id, wait: true })).session_id as string;
      };
      for (const [what, settings] of Object.entries(WAYS)) {
        const words = settings.map((setting) =>
          setting
            .replaceAll('$RUN', `touch ${marker}`)
            .replaceAll('$EVIL', evil)
            .replaceAll('$ORIGIN', origin),
        );
        const session = await run(
          `edit ${what.replaceAll(' ', '-')}.txt new`,
          `run cd ${root} && ${words.map((each) => `git config ${each.replace(/ (?!')(touch .*)$/, " '$1'")}`).join(' && ')}`,
        );
        // By then the setting is not new.
        await run('no-change');
        for (const args of [[], ['--print']]) {
          const refused = await ws.program(['worktree', 'pr', session, '--yes', '--json', ...args], { env });
          assert.equal(refused.code, 5, `${what}: ${refused.stdout}${refused.stderr}`);
          const { error } = JSON.parse(refused.stdout) as { error: { code: string; message: string } };
          assert.equal(error.code, 'worktree_unsafe', what);
        }
        assert.equal(existsSync(marker), false, what);
        assert.deepEqual(
          [origin, evil].map((bare) => runGit(bare, 'for-each-ref')),
          ['', ''],
          what,
        );
        // The person removes it.
        for (const each of words) {
          const name = each.replace('--add ', '').split(' ')[0] as string;
          if (each.startsWith('--add')) repository.git('config', '--unset', name, evil);
          else repository.git('config', '--unset-all', name);
        }
      }
      const last = await run('edit last.txt new');
      const pushed = await ws.program(['worktree', 'pr', last, '--yes'], { env });
      assert.equal(pushed.code, 0, pushed.stderr);
      assert.match(runGit(origin, 'for-each-ref'), new RegExp(`svc/${last}`));
    } finally {
      await ws.close();
    }
  },
);
