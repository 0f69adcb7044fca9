import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { buildProfile } from '../../../../../engine/core/platform/darwin/sandbox/profile.ts';
import { findShownAs, type MountedPlace } from '../../../../../engine/core/platform/index.ts';
import { readProfile } from '../../../../support/seatbelt-profile.ts';

const readSpec = (places: readonly MountedPlace[], socketFolders: readonly string[] = []) => {
  const { profile, parameters } = buildProfile({ places, socketFolders, hasNetwork: true });
  return readProfile(profile, new Map(parameters.map((path, at) => [`P${at}`, path])));
};

/** Lists every path of three names with two letters, and the folders around them. */
const PATHS = ['a', 'b'].flatMap((one) => [
  `/${one}`,
  ...['a', 'b'].flatMap((two) => [`/${one}/${two}`, ...['a', 'b'].map((three) => `/${one}/${two}/${three}`)]),
]);

describe("the profile of macOS's sandbox", () => {
  test('the profile allows at each path what the rules of bubblewrap show there', () => {
    const shows = ['empty', 'shut', 'read', 'write'] as const;
    let seed = 7;
    const choose = <T>(from: readonly T[]): T => {
      seed = (seed * 48_271) % 2_147_483_647;
      return from[seed % from.length]!;
    };
    for (let round = 0; round < 300; round += 1) {
      const places = Array.from(
        { length: 1 + (round % 6) },
        (): MountedPlace => ({
          path: choose(PATHS),
          show: choose(shows),
        }),
      );
      const allows = readSpec(places);
      for (const path of PATHS) {
        const shown = findShownAs(path, places);
        const isHidden = shown === 'empty' || shown === 'shut';
        const about = `${path} of ${JSON.stringify(places)}`;
        assert.equal(allows({ operation: 'file-read-data', path }), !isHidden, about);
        assert.equal(allows({ operation: 'file-write-data', path }), shown === 'write', about);
        assert.equal(allows({ operation: 'file-write-create', path: `${path}/x` }), shown === 'write', about);
      }
    }
  });

  test('a folder around a path that may only be read cannot be moved away, and the names of folders on the way are visible', () => {
    const allows = readSpec([
      { path: '/home', show: 'empty' },
      { path: '/home/code/p', show: 'write' },
      { path: '/home/code/p/.git/hooks', show: 'read' },
    ]);
    const move = (path: string) => allows({ operation: 'file-write-unlink', path });
    assert.deepEqual(['/home/code/p', '/home/code/p/.git', '/home/code/p/src'].map(move), [
      false,
      false,
      true,
    ]);
    const stat = (path: string) => allows({ operation: 'file-read-metadata', path });
    assert.deepEqual(['/home', '/home/code', '/home/other'].map(stat), [true, true, false]);
    assert.equal(allows({ operation: 'file-read-data', path: '/home/code' }), false);
    assert.equal(allows({ operation: 'file-link', path: '/home/code/p/x' }), false);
  });

  test('a path never becomes part of the profile', () => {
    const path = '/a") (allow file-write*) (deny x (literal "';
    const { profile, parameters } = buildProfile({
      places: [{ path, show: 'write' }],
      socketFolders: [],
      hasNetwork: true,
    });
    assert.ok(!profile.includes(path));
    assert.ok(parameters.includes(path));
  });

  test('other processes, other sockets, typing for the person and services that act outside are refused', () => {
    const allows = readSpec([{ path: '/w', show: 'write' }], ['/w', '/seat']);
    const connect = (path: string) => allows({ operation: 'network-outbound', name: 'unix-socket', path });
    assert.deepEqual(['/seat/svc.sock', '/w/x', '/var/run/docker.sock'].map(connect), [true, true, false]);
    assert.equal(allows({ operation: 'signal', name: 'same-sandbox' }), true);
    assert.equal(allows({ operation: 'signal', name: 'others' }), false);
    const look = (name: string) => allows({ operation: 'mach-lookup', name: `com.apple.${name}` });
    assert.deepEqual(
      ['trustd.agent', 'SecurityServer', 'coreservices.launchservicesd', 'pasteboard.1', 'tccd'].map(look),
      [true, false, false, false, false],
    );
    const type = (command: number) => allows({ operation: 'file-ioctl', path: '/dev/tty', command });
    assert.deepEqual([0x80017472, 0x40087468].map(type), [false, true]);
    for (const operation of ['appleevent-send', 'job-creation', 'nvram-set', 'system-privilege'])
      assert.equal(allows({ operation }), false, operation);
    assert.equal(allows({ operation: 'network-outbound', name: 'ip' }), true);
  });

  test('a reader has no network', () => {
    const { profile, parameters } = buildProfile({ places: [], socketFolders: [], hasNetwork: false });
    const allows = readProfile(profile, new Map(parameters.map((path, at) => [`P${at}`, path])));
    assert.equal(allows({ operation: 'network-outbound', name: 'ip' }), false);
  });
});
