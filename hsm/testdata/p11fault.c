/* p11fault.so: wraps $P11FAULT_REAL and injects faults described in the file $P11FAULT_CTL.
 * One rule a line:  <func> <skip> <times> <action> <value>
 *   action: rv=return code instead of calling | delay=ms, then call | flip=call C_Sign, then flip a bit
 *           | flags=OR into CK_TOKEN_INFO.flags | hang | exit | short=signature length | maxrw=n
 *           | norw=refuse read-write sessions | pinpad=act as one and use this PIN
 * skip: calls to let pass first; times: how often to fire (0 = for ever).
 * Each wrapped call appends its name as a line to the file $P11FAULT_LOG. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include "pkcs11go.h"
static CK_FUNCTION_LIST_PTR real;
static CK_FUNCTION_LIST fl;
static unsigned long count[256];
static struct timespec seen; /* a rewritten control file starts its counts anew */

static int fault(const char *fn, const char *act, unsigned long *val)
{
	char path_fn[64], a[32], v[64], line[256];
	long skip, times;
	int hit = 0, ln = 0;
	const char *p = getenv("P11FAULT_CTL");
	FILE *f = p ? fopen(p, "r") : NULL;
	struct stat st;
	if (!f)
		return 0;
	if (!fstat(fileno(f), &st) && (st.st_mtim.tv_sec != seen.tv_sec || st.st_mtim.tv_nsec != seen.tv_nsec)) {
		seen = st.st_mtim;
		memset(count, 0, sizeof count);
	}
	while (fgets(line, sizeof line, f) && ln < 256) {
		ln++;
		if (sscanf(line, "%63s %ld %ld %31s %63s", path_fn, &skip, &times, a, v) != 5 || strcmp(path_fn, fn) || strcmp(a, act))
			continue;
		unsigned long n = __sync_fetch_and_add(&count[ln - 1], 1);
		if (n >= (unsigned long)skip && (times == 0 || n < (unsigned long)(skip + times))) {
			*val = strtoul(v, NULL, 0);
			hit = 1;
			break;
		}
	}
	fclose(f);
	return hit;
}
static void record(const char *fn)
{
	const char *p = getenv("P11FAULT_LOG");
	FILE *f = p && *p ? fopen(p, "a") : NULL;
	if (!f)
		return;
	fprintf(f, "%s\n", fn);
	fclose(f);
}
static int pre(const char *fn, CK_RV *rv)
{
	unsigned long v;
	record(fn);
	if (fault(fn, "delay", &v))
		usleep(v * 1000);
	if (fault(fn, "hang", &v))
		for (;;)
			pause();
	if (fault(fn, "exit", &v))
		abort();
	if (fault(fn, "rv", &v)) {
		*rv = v;
		return 1;
	}
	return 0;
}
#define W(name, args, call) static CK_RV my_##name args { CK_RV rv; if (pre(#name, &rv)) return rv; return real->name call; }
W(C_Initialize, (CK_VOID_PTR a), (a))
W(C_Finalize, (CK_VOID_PTR a), (a))
W(C_GetSlotList, (CK_BBOOL t, CK_SLOT_ID_PTR l, CK_ULONG_PTR n), (t, l, n))
static CK_RV my_C_OpenSession(CK_SLOT_ID s, CK_FLAGS f, CK_VOID_PTR a, CK_NOTIFY n, CK_SESSION_HANDLE_PTR h)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_OpenSession", &rv))
		return rv;
	if (fault("C_OpenSession", "norw", &v) && (f & CKF_RW_SESSION))
		return CKR_TOKEN_WRITE_PROTECTED;
	return real->C_OpenSession(s, f, a, n, h);
}
W(C_CloseSession, (CK_SESSION_HANDLE h), (h))
static CK_RV my_C_Login(CK_SESSION_HANDLE h, CK_USER_TYPE u, CK_UTF8CHAR_PTR p, CK_ULONG n)
{
	CK_RV rv;
	unsigned long v;
	static char pad[32];
	if (pre("C_Login", &rv))
		return rv;
	if (fault("C_Login", "pinpad", &v)) { /* act as a token with a PIN pad: NULL in, decimal <value> used */
		if (p || n)
			return CKR_ARGUMENTS_BAD;
		n = snprintf(pad, sizeof pad, "%lu", v);
		p = (CK_UTF8CHAR_PTR)pad;
	}
	return real->C_Login(h, u, p, n);
}
W(C_Logout, (CK_SESSION_HANDLE h), (h))
W(C_FindObjectsInit, (CK_SESSION_HANDLE h, CK_ATTRIBUTE_PTR t, CK_ULONG n), (h, t, n))
W(C_FindObjects, (CK_SESSION_HANDLE h, CK_OBJECT_HANDLE_PTR o, CK_ULONG m, CK_ULONG_PTR n), (h, o, m, n))
W(C_GetAttributeValue, (CK_SESSION_HANDLE h, CK_OBJECT_HANDLE o, CK_ATTRIBUTE_PTR t, CK_ULONG n), (h, o, t, n))
W(C_SignInit, (CK_SESSION_HANDLE h, CK_MECHANISM_PTR m, CK_OBJECT_HANDLE k), (h, m, k))
static CK_RV my_C_GetTokenInfo(CK_SLOT_ID s, CK_TOKEN_INFO_PTR i)
{
	CK_RV rv;
	unsigned long v;
	if (pre("C_GetTokenInfo", &rv))
		return rv;
	rv = real->C_GetTokenInfo(s, i);
	if (rv == CKR_OK && fault("C_GetTokenInfo", "flags", &v))
		i->flags |= v;
	if (rv == CKR_OK && fault("C_GetTokenInfo", "maxrw", &v))
		i->ulMaxRwSessionCount = v;
	return rv;
}
static CK_RV my_C_Sign(CK_SESSION_HANDLE h, CK_BYTE_PTR d, CK_ULONG dl, CK_BYTE_PTR s, CK_ULONG_PTR sl)
{
	CK_RV rv;
	unsigned long v;
	if (s && pre("C_Sign", &rv)) /* the length query (s == NULL) is not counted */
		return rv;
	rv = real->C_Sign(h, d, dl, s, sl);
	if (s && rv == CKR_OK && fault("C_Sign", "flip", &v))
		s[v % *sl] ^= 1;
	if (s && rv == CKR_OK && fault("C_Sign", "short", &v))
		*sl = v;
	return rv;
}
CK_RV C_GetFunctionList(CK_FUNCTION_LIST_PTR_PTR out)
{
	CK_RV rv;
	if (pre("C_GetFunctionList", &rv))
		return rv;
	if (!real) {
		const char *p = getenv("P11FAULT_REAL");
		void *h = dlopen(p ? p : "/usr/lib/softhsm/libsofthsm2.so", RTLD_NOW | RTLD_LOCAL);
		CK_C_GetFunctionList g = h ? (CK_C_GetFunctionList)dlsym(h, "C_GetFunctionList") : NULL;
		if (!g || g(&real) != CKR_OK)
			return CKR_GENERAL_ERROR;
		fl = *real;
		fl.C_GetFunctionList = C_GetFunctionList;
#define O(n) fl.n = my_##n;
		O(C_Initialize) O(C_Finalize) O(C_GetSlotList) O(C_GetTokenInfo) O(C_OpenSession) O(C_CloseSession) O(C_Login) O(C_Logout)
		O(C_FindObjectsInit) O(C_FindObjects) O(C_GetAttributeValue) O(C_SignInit) O(C_Sign)
	}
	*out = &fl;
	return CKR_OK;
}
