# Turns files into C arrays: cmake -DOUT=assets.c -DFILES="a.css;b.js" -P embed.cmake
set(text "#include \"report/assets.h\"\n")
foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    string(REGEX REPLACE "[^A-Za-z0-9]" "_" name asset_${name})
    file(READ ${file} bytes HEX)
    string(LENGTH "${bytes}" digits)
    math(EXPR size "${digits} / 2")
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
    string(APPEND text "const unsigned char ${name}[] = {${bytes}0};\n"
                       "const size_t ${name}_size = ${size};\n")
endforeach()
file(WRITE ${OUT} "${text}")
