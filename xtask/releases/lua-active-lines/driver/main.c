/* Runs a Lua script. */
#include <stdio.h>

#include "lua.h"

#include "lauxlib.h"
#include "lualib.h"

int main(int argc, char **argv) {
    lua_State *L = luaL_newstate();
    if (L == NULL || argc != 2) {
        fprintf(stderr, "usage: lua SCRIPT\n");
        return 2;
    }
    luaL_openlibs(L);
    if (luaL_dofile(L, argv[1])) {
        fprintf(stderr, "%s\n", lua_tostring(L, -1));
        lua_close(L);
        return 1;
    }
    lua_close(L);
    return 0;
}
