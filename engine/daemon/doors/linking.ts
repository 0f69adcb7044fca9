/** Actions of a machine with a linked server, without an engine. */
export { findLogin, type LoginState } from '../../link/login-files.ts';
export {
  askLoginState,
  checkServerUrl,
  type LoginPrompt,
  logIn,
  logOut,
} from '../../link/machine-login.ts';
