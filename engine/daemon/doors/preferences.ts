/** A person's own files in the machine home, which no engine reads. */

export { readUserFile, type UserFile, writeUserFile } from '../../config/user-file.ts';
export { checkHomeOwner } from '../../core/workspace/owner.ts';
